#!/usr/bin/env python3
"""SAM in sam-vit-base's shape and in shapes drawn from SEED, with random weights, as sam.py makes its goldens.

    python tools/pyref/sam_real.py DIR SEED

Writes DIR/vit-base and DIR/drawn-0 … drawn-4: config.json, model.safetensors, preprocessor_config.json, golden.safetensors. Prints the seconds that
transformers takes with 2 threads for an image and for 8 boxes, and the process's peak memory.
Run by: go test -tags checks -run Real ./gomlxmodels/sam
"""

import pathlib
import random
import sys
import time

import torch
from sam import config, golden, shake
from transformers import SamConfig, SamImageProcessor, SamModel

torch.set_num_threads(2)


def stir(model, generator):
    """Weights a little off their start values, none at 0 or 1: a real network's numbers stay in range."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "positional_embedding" in name:
                p.normal_(0, 1, generator=generator)  # segment-anything's start values; transformers' are some hundred times that
            else:
                p.add_(torch.randn(p.shape, generator=generator) * 0.02)
    return model.eval()


def make(folder, model, longest, seed, sizes, n):
    folder.mkdir(parents=True)
    side = model.config.vision_config.image_size
    model.save_pretrained(folder)
    SamImageProcessor(size={"longest_edge": longest}, pad_size={"height": side, "width": side}).save_pretrained(folder)
    golden(model, folder, sizes, n, torch.Generator().manual_seed(seed))


def times(model, runs):
    """Seconds of the image encoder and of the mask decoder for 8 boxes; the first run warms up."""
    pixels, boxes = torch.randn(1, 3, 1024, 1024), torch.tensor([[[100.0, 200, 500, 700]]]).repeat(1, 8, 1)
    with torch.inference_mode():
        for run in range(runs + 1):
            start = time.perf_counter()
            image = model.get_image_embeddings(pixels)
            middle = time.perf_counter()
            model(image_embeddings=image, input_boxes=boxes, multimask_output=False)
            if run > 0:
                print(f"transformers: image {middle - start:.2f} s, 8 boxes {time.perf_counter() - middle:.2f} s")
    with open("/proc/self/status") as status:
        print("transformers:", next(line.strip() for line in status if line.startswith("VmHWM")))


def draw(rng):
    patch, grid, heads, layers = rng.choice([3, 4, 8]), rng.randint(2, 9), rng.choice([1, 2, 4]), rng.randint(1, 4)
    act = rng.choice(["gelu", "gelu_new", "relu"])
    vision = dict(image_size=patch * grid, patch_size=patch, hidden_size=heads * rng.choice([4, 6, 8]), num_attention_heads=heads, num_hidden_layers=layers,
                  global_attn_indexes=[i for i in range(layers) if rng.random() < 0.4], window_size=rng.randint(1, 10), qkv_bias=rng.random() < 0.7,
                  mlp_dim=rng.choice([None, rng.randint(8, 50)]), hidden_act=act, layer_norm_eps=rng.choice([1e-6, 1e-5, 1e-3]))
    decoder = dict(num_hidden_layers=rng.randint(1, 3), num_attention_heads=rng.choice([1, 2, 4]), mlp_dim=rng.randint(8, 60), num_multimask_outputs=rng.randint(0, 4),
                   iou_head_depth=rng.randint(2, 4), iou_head_hidden_dim=rng.randint(8, 40), hidden_act=rng.choice(["relu", "gelu"]), layer_norm_eps=rng.choice([1e-6, 1e-5]))
    return config(vision, decoder, rng.choice([16, 24, 32]))


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    size = lambda: (rng.randint(8, 200), rng.randint(8, 200))
    for i in range(5):
        c = draw(rng)
        v = c.vision_config
        print(i, v.image_size, v.patch_size, v.window_size, v.global_attn_indexes, c.mask_decoder_config.hidden_size)
        model = shake(SamModel(c), torch.Generator().manual_seed(rng.randrange(1 << 30)))
        make(root / f"drawn-{i}", model, max(v.image_size - rng.randint(0, 2), 1), rng.randrange(1 << 30), [size(), size()], rng.randint(1, 9))
    seed = rng.randrange(1 << 30)
    torch.manual_seed(seed)
    model = stir(SamModel(SamConfig()), torch.Generator().manual_seed(seed))
    make(root / "vit-base", model, 1024, seed, [(640, 427), (427, 640)], 3)
    times(model, 3)


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""SAM 2 in sam2.1-hiera-tiny's shape and in shapes drawn from SEED, with random weights, as sam2.py makes its goldens.

    python tools/pyref/sam2_real.py DIR SEED

Writes DIR/hiera-tiny and DIR/drawn-0 … drawn-4: config.json, model.safetensors, preprocessor_config.json, cases.json,
golden.safetensors. Prints the seconds that the image encoder and the decoder of hiera-tiny take (2 threads, median of 5 after one
more, from prepared pixels) and the peak memory of the process before the goldens. Run by: go test -tags checks -run Real
./gomlxmodels/sam2
"""

import pathlib
import random
import resource
import statistics
import sys
import time

import torch
from sam2 import config, golden, spread
from transformers import Sam2Config, Sam2ImageProcessor, Sam2Model

BOXES = 8


def fill(model, generator, small=False):
    """Random values in every parameter; small: a little off the start values, none at 0 or 1, so that numbers stay in range."""
    with torch.no_grad():
        for name, p in [*model.named_parameters(), ("shared_image_embedding.positional_embedding", model.shared_image_embedding.positional_embedding)]:
            mean, deviation = spread(name, p.shape)
            if small and name != "shared_image_embedding.positional_embedding":
                p.add_(torch.randn(p.shape, generator=generator) * 0.02)
            else:
                p.copy_(mean + deviation * torch.randn(p.shape, generator=generator))
        model.prompt_encoder.shared_embedding.positional_embedding.copy_(model.shared_image_embedding.positional_embedding)
    return model.eval()


def make(folder, model, seed, sizes, n):
    """A folder whose goldens leave nothing to float noise."""
    folder.mkdir(parents=True)
    side = model.config.prompt_encoder_config.image_size
    model.save_pretrained(folder)
    Sam2ImageProcessor(size={"height": side, "width": side}).save_pretrained(folder)
    for again in range(200):
        try:
            first = golden(model, folder, sizes, n, torch.Generator().manual_seed(seed + again))
            print(folder.name, "first masks", first)
            return
        except AssertionError as e:
            why = e
    raise SystemExit(f"{folder.name}: no boxes: {why}")


def draw(rng):
    unit, heads = rng.choice([1, 2]), lambda: rng.choice([1, 2, 4])
    side, h = 32 * unit, [heads() for _ in range(4)]
    widths = []
    for i in range(4):
        width = h[i] * rng.choice([4, 6, 8])
        widths.append(width if not widths or width != widths[-1] else width * 2)
    blocks = [rng.randint(1, 3) for _ in range(4)]
    starts = [sum(blocks[:i]) for i in range(1, 4)]
    b = dict(blocks_per_stage=blocks, embed_dim_per_stage=widths, num_attention_heads_per_stage=h, mlp_ratio=rng.choice([1.0, 1.5, 4.0]),
             window_size_per_stage=[rng.choice([2, 4, 8]), *rng.choices([2, 4, 6, 14], k=2), rng.randint(1, 8)],
             global_attention_blocks=[i for i in range(sum(blocks)) if i not in starts and rng.random() < 0.3], hidden_act=rng.choice(["gelu", "gelu_new", "relu"]),
             layer_norm_eps=rng.choice([1e-6, 1e-5, 1e-3]), window_positional_embedding_background_size=[rng.randint(2, 9), rng.randint(2, 9)])
    d = dict(num_hidden_layers=rng.randint(1, 4), num_attention_heads=rng.choice([1, 2, 4]), mlp_dim=rng.randint(8, 60), num_multimask_outputs=rng.randint(1, 4),
             iou_head_depth=rng.randint(2, 4), iou_head_hidden_dim=rng.randint(8, 40), dynamic_multimask_via_stability=rng.random() < 0.8,
             dynamic_multimask_stability_delta=rng.choice([0.05, 0.2]), dynamic_multimask_stability_thresh=rng.choice([0.98, 0.9, 0.8]))
    return config(b, dict(fpn_top_down_levels=[i for i in range(4) if rng.random() < 0.6]), d, side, rng.choice([16, 24, 32]))


def measure(model):
    """Seconds of the encoder and of the decoder for 8 boxes."""
    pixels, boxes = torch.randn(1, 3, 1024, 1024), torch.tensor([[[100.0, 50, 700, 900]] * BOXES])
    times = {"encoder": [], "decoder": []}
    with torch.inference_mode():
        for _ in range(6):
            start = time.perf_counter()
            image = model.get_image_embeddings(pixels)
            middle = time.perf_counter()
            model(image_embeddings=image, input_boxes=boxes, multimask_output=False)
            times["encoder"].append(middle - start)
            times["decoder"].append(time.perf_counter() - middle)
    for name, list_ in times.items():
        print(f"transformers {name} {statistics.median(list_[1:]):.3f} s")
    print(f"transformers peak {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB")


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    torch.set_num_threads(2)
    whole = rng.randrange(1 << 30)
    torch.manual_seed(whole)
    model = fill(Sam2Model(Sam2Config()), torch.Generator().manual_seed(whole), small=True)
    measure(model)
    make(root / "hiera-tiny", model, whole, [(640, 427), (427, 640)], 3)
    torch.set_num_threads(1)
    size = lambda: (rng.randint(8, 200), rng.randint(8, 200))
    for i in range(5):
        c = draw(rng)
        model = fill(Sam2Model(c), torch.Generator().manual_seed(rng.randrange(1 << 30)))
        make(root / f"drawn-{i}", model, rng.randrange(1 << 30), [size(), size()], rng.randint(1, 9))


if __name__ == "__main__":
    main(*sys.argv[1:])

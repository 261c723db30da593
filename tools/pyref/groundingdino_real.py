#!/usr/bin/env python3
"""GroundingDINO in grounding-dino-tiny's shape and in shapes drawn from SEED, with random weights, as groundingdino.py makes its goldens.

    python tools/pyref/groundingdino_real.py DIR SEED

Writes DIR/tiny and DIR/drawn-0 … drawn-3, the folders of groundingdino.py with model.safetensors. Prints the seconds that transformers
takes for an image of 800×1066 pixels with 2 threads, by parts, and the process's peak memory.
Run by: go test -tags checks -run Real ./gomlxmodels/groundingdino
"""

import pathlib
import random
import sys
import time

import torch
from groundingdino import config, folder, image
from PIL import Image
from transformers import GroundingDinoConfig

torch.set_num_threads(2)


def times(processor, model, case, runs):
    """Seconds of each run: of the image alone, of the text alone, of what depends on both."""
    width, height, text = case
    inputs = processor(images=Image.fromarray(image(width, height)), text=text, return_tensors="pt")
    m, spent = model.model, {}
    begin = {}

    def measure(name, module):
        module.register_forward_pre_hook(lambda *_: begin.__setitem__(name, time.perf_counter()))
        module.register_forward_hook(lambda *_: spent.__setitem__(name, spent.get(name, 0) + time.perf_counter() - begin[name]))

    for part in m.backbone, *m.input_proj_vision:
        measure("image", part)
    for part in m.text_backbone, m.text_projection:
        measure("text", part)
    with torch.inference_mode():
        for run in range(runs + 1):
            spent.clear()
            start = time.perf_counter()
            model(pixel_values=inputs.pixel_values, input_ids=inputs.input_ids)
            whole = time.perf_counter() - start
            if run > 0:  # the first warms up
                print(f"transformers: image {spent['image']:.2f} s, text {spent['text']:.2f} s, "
                      f"both {whole - spent['image'] - spent['text']:.2f} s, together {whole:.2f} s")


def draw(rng):
    """A configuration in which every size differs from the usual one."""
    heads = [rng.choice([1, 2, 4, 8]) for _ in range(4)]
    act = rng.choice(["gelu", "gelu_new", "relu"])
    swin = dict(embed_dim=rng.choice([8, 16, 24]), depths=[rng.randint(1, 3) for _ in range(4)], num_heads=heads, window_size=rng.randint(2, 8), mlp_ratio=rng.choice([1.0, 2.5, 4.0]),
                hidden_act=act, qkv_bias=rng.random() < 0.7, layer_norm_eps=rng.choice([1e-5, 1e-3]), patch_size=rng.choice([2, 4]))
    text = dict(hidden_size=24, num_attention_heads=rng.choice([2, 3, 6]), num_hidden_layers=rng.randint(1, 3), intermediate_size=rng.randint(8, 60))
    encoder = rng.choice([2, 4, 8])
    return config(swin, text, d_model=64 * rng.randint(1, 2), encoder_layers=rng.randint(1, 3), decoder_layers=rng.randint(2, 3), encoder_attention_heads=encoder,
                  decoder_attention_heads=rng.choice([1, 2, 4, 8]), encoder_ffn_dim=encoder * rng.randint(2, 20), decoder_ffn_dim=rng.randint(8, 100), encoder_n_points=rng.randint(1, 5),
                  decoder_n_points=rng.randint(1, 5), num_feature_levels=rng.randint(3, 5), num_queries=rng.randint(4, 30), decoder_bbox_embed_share=rng.random() < 0.5,
                  activation_function=rng.choice(["relu", "gelu"]), positional_embedding_temperature=rng.choice([10, 20, 30]), layer_norm_eps=rng.choice([1e-5, 1e-4]))


def make(root, name, cfg, case, size, rng):
    processor, model = folder(root, name, cfg, [case], size, tie_free=False, first=rng.randrange(1 << 20))
    model.save_pretrained(root / name)
    return processor, model


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    root.mkdir(exist_ok=True)
    for i in range(4):
        short = rng.randint(40, 90)
        text = rng.choice(["cat", "a cat. a dog.", "a red car. remote control", "is it a dog? person."])
        size = {"shortest_edge": short, "longest_edge": rng.randint(short, 2 * short)}
        make(root, f"drawn-{i}", draw(rng), (rng.randint(50, 150), rng.randint(50, 150), text), size, rng)
    case = (640, 480, "a cat. a remote control.")
    processor, model = make(root, "tiny", GroundingDinoConfig(), case, {"shortest_edge": 800, "longest_edge": 1333}, rng)
    times(processor, model, case, 2)
    with open("/proc/self/status") as status:
        print("transformers:", next(line.strip() for line in status if line.startswith("VmHWM")))


if __name__ == "__main__":
    main(*sys.argv[1:])

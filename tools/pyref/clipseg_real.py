#!/usr/bin/env python3
"""CLIPSeg in rd64-refined's shape and in shapes drawn from SEED, with random weights, as clipseg.py makes its goldens.

    python tools/pyref/clipseg_real.py DIR SEED

Writes DIR/rd64-refined and DIR/drawn-0 … drawn-4: config.json, model.safetensors, preprocessor_config.json, golden.safetensors.
Run by: go test -tags checks -run Real ./gomlxmodels/clipseg
"""

import pathlib
import random
import sys

import torch
from clipseg import MEAN, STD, golden, rows
from transformers import CLIPSegConfig, CLIPSegForImageSegmentation, ViTImageProcessor

torch.set_num_threads(2)


def stir(model, generator):
    """Weights a little off their start values, none at 0 or 1: a real network's numbers stay in range."""
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=generator) * 0.02)
    return model.eval()


def make(folder, config, side, seed, picture):
    folder.mkdir(parents=True)
    g = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    model = stir(CLIPSegForImageSegmentation(config), g)
    model.save_pretrained(folder)
    ViTImageProcessor(size={"height": side, "width": side}, image_mean=MEAN, image_std=STD).save_pretrained(folder)
    t = config.text_config
    golden(model, rows(t.vocab_size - 1, t.eos_token_id, t.eos_token_id, g, min(9, t.max_position_embeddings)), side, g, folder, picture)


def draw(rng):
    patch, heads = rng.choice([4, 6, 8, 12, 16]), rng.choice([1, 2, 4])
    layers, act = rng.randint(1, 5), rng.choice(["quick_gelu", "gelu", "gelu_new", "relu"])
    vision = dict(hidden_size=heads * rng.choice([8, 12, 16]), num_attention_heads=heads, num_hidden_layers=layers, intermediate_size=rng.randint(20, 120),
                  patch_size=patch, image_size=patch * rng.randint(1, 6) + rng.choice([0, 1, 3]), hidden_act=act, layer_norm_eps=rng.choice([1e-5, 1e-6, 1e-3]))
    text = dict(hidden_size=24, num_attention_heads=3, num_hidden_layers=rng.randint(1, 3), intermediate_size=40, max_position_embeddings=rng.choice([8, 32]),
                vocab_size=64, bos_token_id=62, eos_token_id=63, pad_token_id=63, hidden_act=act)
    extract = [rng.randrange(layers) for _ in range(rng.randint(1, 3))]
    extract = list(dict.fromkeys(extract))
    heads = rng.choice([1, 2, 4])
    config = CLIPSegConfig(text_config=text, vision_config=vision, projection_dim=rng.randint(4, 40), extract_layers=extract, conditional_layer=rng.randrange(len(extract)),
                           reduce_dim=heads * rng.choice([4, 6]), decoder_num_attention_heads=heads, decoder_intermediate_size=rng.randint(8, 80),
                           use_complex_transposed_convolution=rng.random() < 0.5)
    return config, patch * rng.randint(1, 7) + rng.choice([0, 2])


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    for i in range(5):
        config, side = draw(rng)
        print(i, side, config.extract_layers, config.vision_config.patch_size, config.vision_config.image_size, config.use_complex_transposed_convolution)
        make(root / f"drawn-{i}", config, side, rng.randrange(1 << 30), (rng.randint(20, 200), rng.randint(20, 200)))
    real = CLIPSegConfig(vision_config=dict(patch_size=16), use_complex_transposed_convolution=True)
    make(root / "rd64-refined", real, 352, rng.randrange(1 << 30), (640, 427))


if __name__ == "__main__":
    main(*sys.argv[1:])

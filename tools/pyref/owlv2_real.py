#!/usr/bin/env python3
"""OWLv2 in owlv2-base-patch16-ensemble's shape and in shapes drawn from SEED, with random weights, as owlv2.py makes its goldens.

    python tools/pyref/owlv2_real.py DIR SEED

Writes DIR/base-patch16 and DIR/drawn-0 … drawn-4: config.json, model.safetensors, the processor's and the tokenizer's files,
golden.safetensors, cases.json; of base-patch16 also times.json: seconds on 2 threads, wall and CPU, of the image's part and of a text,
and the process's peak memory.
Run by: go test -tags checks -run Real ./gomlxmodels/owlv2
"""

import json
import pathlib
import random
import resource
import sys
import time

import torch
from owlv2 import build, config, save, tokenizer
from transformers import Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor

torch.set_num_threads(2)


def stir(model, generator):
    """Weights a little off their start values, none at 0 or 1: a real network's numbers stay in range. The heads start with deviation 1,
    with which boxes would be at the border and differ by the rounding of their logits, some hundreds."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "_head." in name:
                p.mul_(0.03)
            p.add_(torch.randn(p.shape, generator=generator) * 0.02)
    return model.eval()


def make(path, model, cases):
    path.mkdir(parents=True)
    c = model.config
    side = c.vision_config.image_size
    processor = Owlv2Processor(Owlv2ImageProcessor(size={"height": side, "width": side}), tokenizer(c.text_config.max_position_embeddings))
    processor.save_pretrained(path)
    model.save_pretrained(path)
    save(path, c, processor, model, cases, search=False)


def draw(rng):
    def tower():
        heads = rng.choice([1, 2, 3, 4])
        return dict(hidden_size=heads * rng.choice([8, 12, 16]), num_attention_heads=heads, num_hidden_layers=rng.randint(1, 4), intermediate_size=rng.randint(20, 100),
                    hidden_act=rng.choice(["quick_gelu", "gelu", "relu"]), layer_norm_eps=rng.choice([1e-6, 1e-5, 1e-3]))

    patch = rng.choice([4, 7, 8, 12])
    return config({**tower(), "max_position_embeddings": rng.randint(8, 24)}, {**tower(), "patch_size": patch, "image_size": patch * rng.randint(2, 9) + rng.choice([0, 1, 3])})


def times(model):
    """The least of five runs each, and before them one to warm up."""
    pixels, ids = torch.randn(1, 3, 960, 960), torch.zeros(1, 16, dtype=torch.long)
    ids[0, :3] = torch.tensor([523, 515, 524])
    mask = (ids > 0).long()

    def image():
        features, _ = model.image_embedder(pixels)
        flat = features.flatten(1, 2)
        return model.class_predictor(flat, torch.ones(1, 1, 512), torch.ones(1, 1, dtype=torch.bool)), model.box_predictor(flat, features)

    def text():
        return model.owlv2.text_projection(model.owlv2.text_model(input_ids=ids, attention_mask=mask).pooler_output)

    out = {}
    with torch.inference_mode():
        for name, f in (("image", image), ("text", text)):
            f()
            runs = []
            for _ in range(5):
                wall, cpu = time.perf_counter(), time.process_time()
                f()
                runs.append((time.perf_counter() - wall, time.process_time() - cpu))
            out[name], out[name + "_cpu"] = min(r[0] for r in runs), min(r[1] for r in runs)
    out["peak"] = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    return out


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    size = lambda: (rng.randint(8, 200), rng.randint(8, 200))
    for i in range(5):
        c = draw(rng)
        print(i, c.vision_config.image_size, c.vision_config.patch_size, c.vision_config.hidden_size, c.text_config.hidden_size, c.text_config.max_position_embeddings)
        model, _ = build(c, rng.randrange(1 << 30))
        make(root / f"drawn-{i}", model, [(*size(), ["cat", "Red dog", ""]), (*size(), ["dog"])])
    seed = rng.randrange(1 << 30)
    torch.manual_seed(seed)
    model = stir(Owlv2ForObjectDetection(Owlv2Config(vision_config=dict(image_size=960))), torch.Generator().manual_seed(seed))
    figures = times(model)
    make(root / "base-patch16", model, [(1024, 683, ["a photo of a cat", "red dog"]), (427, 640, ["dog"])])
    (root / "base-patch16" / "times.json").write_text(json.dumps(figures))


if __name__ == "__main__":
    main(*sys.argv[1:])

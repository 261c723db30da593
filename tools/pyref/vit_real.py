#!/usr/bin/env python3
"""ViT-B/16 at real size with random weights, in both layouts, and DINOv2-S/14 of both kinds at 224 pixels, with what the reference libraries make of pictures and masks.

    python tools/pyref/vit_real.py DIR
    ANTIPODE_VIT_REAL=DIR go test -tags real -run Real -v ./gomlxmodels/vit

Writes DIR/timm, DIR/transformers, DIR/dinov2, DIR/dinov2-registers: config.json, model.safetensors (346 and 88 MB), preprocessor_config.json where the
library has one, pictures (PNG), masks (PNG), images.csv and golden.safetensors (full, object_only, background_only: drop).
Versions: torch 2.15.0, transformers 5.24.0, timm 1.0.31, Pillow 13.0.0. Seed 20240617.
"""

import csv
import pathlib
import shutil
import sys

import numpy as np
import timm
import torch
from PIL import Image
from safetensors.torch import save_file
from timm.data import create_transform, resolve_model_data_config
from transformers import BitImageProcessor, Dinov2Config, Dinov2Model, Dinov2WithRegistersConfig, Dinov2WithRegistersModel, ViTConfig, ViTImageProcessor, ViTModel

from preprocess import picture
from vit import HF, SEED, Dino, Timm, masked, shake

SIZES = [(640, 480), (300, 400), (224, 224), (1024, 683), (97, 130), (500, 333)]


def scene(i, w, h):
    """A picture and its mask: an ellipse."""
    p = picture(w, h, seed=100 + i)
    y, x = np.mgrid[0:h, 0:w]
    m = ((x / w - 0.45) / (0.15 + 0.05 * i)) ** 2 + ((y / h - 0.55) / 0.25) ** 2 < 1
    return p, m


def patches(mask, geometry, patch=16, side=224):
    """Spec 4.2, rule any: a patch is object if the area of any object pixel reaches into it. geometry: mask → (W, H, left, top) of the resized picture and its crop."""
    h, w = mask.shape
    W, H, left, top = geometry(w, h)
    ys, xs = np.nonzero(mask)
    out = np.zeros((side // patch, side // patch), bool)
    for y, x in zip(ys, xs):
        x0, x1, y0, y1 = x * W / w - left, (x + 1) * W / w - left, y * H / h - top, (y + 1) * H / h - top
        c0, c1 = int(np.floor(x0 / patch + 1e-9)), int(np.ceil(x1 / patch - 1e-9))
        r0, r1 = int(np.floor(y0 / patch + 1e-9)), int(np.ceil(y1 / patch - 1e-9))
        out[max(0, r0) : max(0, r1), max(0, c0) : max(0, c1)] = True
    return torch.from_numpy(out.reshape(-1))


def shortest(edge, side):
    def f(w, h):
        W, H = (edge, int(edge * h / w)) if w <= h else (int(edge * w / h), edge)
        return W, H, round((W - side) / 2), round((H - side) / 2)

    return f


def crop(edge, side):
    """As shortest, with the crop of transformers."""

    def f(w, h):
        W, H, _, _ = shortest(edge, side)(w, h)
        return W, H, (W - side) // 2, (H - side) // 2

    return f


def write(folder, face, prepare, geometry, patch=16):
    rows, out = [], {"full": [], "object_only": [], "background_only": [], "object": []}
    with torch.inference_mode():
        for i, (w, h) in enumerate(SIZES):
            p, m = scene(i, w, h)
            p.save(folder / f"{i}.png")
            Image.fromarray((m * 255).astype(np.uint8)).save(folder / f"{i}.mask.png")
            rows.append([f"p{i}", f"{i}.png", f"{i}.mask.png"])
            x, obj = prepare(p), patches(m, geometry, patch)
            every = torch.ones_like(obj)
            for name, keep in (("full", every), ("object_only", obj), ("background_only", ~obj)):
                out[name].append(masked(face, x, keep, "drop"))
            out["object"].append(obj.float())
    save_file({k: torch.stack(v).contiguous() for k, v in out.items()}, folder / "golden.safetensors")
    with open(folder / "images.csv", "w", newline="") as f:
        csv.writer(f).writerows([["id", "image", "mask"], *rows])


def main(root):
    root = pathlib.Path(root)
    g = torch.Generator().manual_seed(SEED)

    folder = root / "timm"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    m = shake(timm.create_model("vit_base_patch16_224", pretrained=False), g)
    timm.models.save_for_hf(m, folder, safe_serialization=True)
    (folder / "pytorch_model.bin").unlink(missing_ok=True)
    t = create_transform(**resolve_model_data_config(m), is_training=False)
    write(folder, Timm(m), t, shortest(248, 224))

    folder = root / "transformers"
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    m = shake(ViTModel(ViTConfig(attn_implementation="eager")), g)
    m.save_pretrained(folder)
    p = ViTImageProcessor()
    p.save_pretrained(folder)
    write(folder, HF(m), lambda im: p(im, return_tensors="pt").pixel_values[0], lambda w, h: (224, 224, 0, 0))

    for name, config, model in (("dinov2", Dinov2Config, Dinov2Model), ("dinov2-registers", Dinov2WithRegistersConfig, Dinov2WithRegistersModel)):
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        m = shake(model(config(hidden_size=384, num_attention_heads=6, image_size=518, patch_size=14, attn_implementation="eager")), g)
        m.save_pretrained(folder)
        p = BitImageProcessor(size={"shortest_edge": 256}, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225])
        p.save_pretrained(folder)
        write(folder, Dino(m), lambda im: p(im, return_tensors="pt").pixel_values[0], crop(256, 224), 14)


if __name__ == "__main__":
    main(sys.argv[1])

"""Side B of the benchmark: timm's masked passes. Usage: peer.py FOLDER THREADS SEED COUNT

Saves a random vit_base_patch16_224 into FOLDER, reads COUNT pictures and masks from it, then answers lines:
`MODE BATCH` with one JSON line {"Seconds": …}. Modes: `masked` is three masked passes (whole, object,
background) with the excluded keys at minus infinity, in batches; `drop` removes tokens, which is possible for one picture at a time only.
"""

import json
import pathlib
import sys
import time

import numpy as np
import timm
import torch

folder, threads, seed, count = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:5])
torch.set_num_threads(threads)
torch.manual_seed(seed)
start = time.perf_counter()
model = timm.create_model("vit_base_patch16_224", pretrained=False, num_classes=0).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.ndim == 2:
            p.normal_(0, p.shape[1] ** -0.5)
timm.models.save_for_hf(model, folder, safe_serialization=True)
pixels = torch.from_numpy(np.fromfile(folder / "pixels.f32", np.float32).reshape(count, 3, 224, 224))
objects = torch.from_numpy(np.fromfile(folder / "objects.u8", np.uint8).reshape(count, 196) != 0)


def embed(x):
    return model.norm_pre(model.patch_drop(model._pos_embed(model.patch_embed(x))))


def blocks(x, keep=None):
    mask = None
    if keep is not None:
        keep = torch.cat([torch.ones(len(keep), 1, dtype=torch.bool), keep], 1)
        mask = keep[:, None, None, :].expand(-1, 1, keep.shape[1], -1)
    for block in model.blocks:
        x = block(x, attn_mask=mask)
    return model.norm(x)[:, 0]


@torch.inference_mode()
def run(batch, mode):
    out = []
    for at in range(0, count, batch):
        x, o = embed(pixels[at : at + batch]), objects[at : at + batch]
        full = blocks(x)
        if mode == "masked":
            parts = blocks(x, o), blocks(x, ~o)
        else:
            one = torch.ones(1, dtype=torch.bool)
            parts = [torch.cat([blocks(t[None, torch.cat([one, k])]) for t, k in zip(x, keep)]) for keep in (o, ~o)]
        out.append(torch.stack([full, *parts]))
    return torch.cat(out, 1)  # [3,count,768]


print(json.dumps({"Seconds": time.perf_counter() - start, "Name": f"timm {timm.__version__}, torch {torch.__version__}"}), flush=True)
for line in sys.stdin:
    mode, batch = line.split()
    start = time.perf_counter()
    out = run(int(batch), mode)
    seconds = time.perf_counter() - start
    out.numpy().astype(np.float32).tofile(folder / "peer.f32")
    print(json.dumps({"Seconds": seconds}), flush=True)

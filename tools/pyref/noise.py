#!/usr/bin/env python3
"""Goldens for gomlxmodels/diffusion/noise: normal numbers of torch.Generator on the CPU.

    python tools/pyref/noise.py gomlxmodels/diffusion/noise/testdata

Versions: torch 2.15.0 on x86-64 with AVX2. The seeds are those listed below.

sizes.f32: for each seed, torch.randn(n) with a fresh generator for n = 1..100. latents.f32: torch.randn(1, 4, 64, 64) for the
first seed. latents.json: for every seed, the SHA-256 of the bytes of torch.randn(1, 4, 64, 64). turns.f32: for each seed,
one generator asked for the sizes in TURNS in turn. All little-endian float32.
"""

import hashlib
import json
import pathlib
import sys

import torch

SEEDS = [0, 1, 42, 2**31, 2**32 - 1, 2**32 + 5, 12345678901234, 2**63 - 1]
TURNS = [3, 1, 16, 5, 20, 2, 700, 15, 1]


def draw(n, generator):
    return torch.randn(n, generator=generator).numpy().astype("<f4").tobytes()


def main(folder):
    root = pathlib.Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    fresh = lambda seed: torch.Generator().manual_seed(seed)
    (root / "sizes.f32").write_bytes(b"".join(draw(n, fresh(s)) for s in SEEDS for n in range(1, 101)))
    latents = [draw((1, 4, 64, 64), fresh(s)) for s in SEEDS]
    (root / "latents.f32").write_bytes(latents[0])
    turns = b""
    for s in SEEDS:
        g = fresh(s)
        turns += b"".join(draw(n, g) for n in TURNS)
    (root / "turns.f32").write_bytes(turns)
    index = {"seeds": SEEDS, "turns": TURNS, "sha256": [hashlib.sha256(b).hexdigest() for b in latents]}
    (root / "latents.json").write_text(json.dumps(index, indent=1) + "\n")


if __name__ == "__main__":
    main(sys.argv[1])

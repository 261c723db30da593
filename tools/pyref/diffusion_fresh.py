#!/usr/bin/env python3
"""Pipelines of shapes drawn from SEED, one for each scheduler, as diffusion.py makes its goldens, with pictures of 20 steps.

    python tools/pyref/diffusion_fresh.py DIR SEED

Writes DIR/SCHEDULER/ for ddim, pndm, euler, euler-ancestral and dpm++: the folder as diffusers saves it, and golden.safetensors.
Run by: go test -tags checks -run Fresh ./gomlxmodels/diffusion
"""

import pathlib
import random
import sys

import torch
from diffusers import DDIMScheduler, DPMSolverMultistepScheduler, EulerAncestralDiscreteScheduler, EulerDiscreteScheduler, PNDMScheduler, StableDiffusionPipeline
from diffusion import CROSS, LADDER, PLAIN, golden, pipeline, sampled, text, tokenizer, unet, vae
from safetensors.torch import save_file

torch.set_num_threads(1)
SCHEDULERS = {"ddim": DDIMScheduler, "pndm": PNDMScheduler, "euler": EulerDiscreteScheduler, "euler-ancestral": EulerAncestralDiscreteScheduler, "dpm++": DPMSolverMultistepScheduler}


def draw(folder, name, rng):
    blocks, heads, groups = rng.randint(2, 4), rng.choice([1, 2, 4]), rng.choice([2, 4])
    kinds = [rng.choice([CROSS, PLAIN]) for _ in range(blocks - 1)] + [rng.choice([CROSS, PLAIN])]
    widths = tuple(groups * heads * rng.choice([2, 4] if groups * heads < 16 else [1, 2]) for _ in range(blocks))
    width, layers = 4 * rng.randint(2, 5), rng.randint(1, 2)
    tok = tokenizer(folder / "tokenizer", 77, rng.choice(["!", "<|endoftext|>"]))
    end = tok.eos_token_id
    unets = unet(widths, kinds, layers_per_block=layers, cross_attention_dim=width, attention_head_dim=heads, use_linear_projection=rng.random() < 0.5, norm_num_groups=groups)
    vaes = vae(tuple(groups * rng.randint(1, 3) for _ in range(rng.randint(2, 4))), layers_per_block=rng.randint(1, 2), norm_num_groups=groups, scaling_factor=rng.choice([0.18215, 0.5]))
    texts = text(width, rng.randint(1, 3), 4, end, hidden_act=rng.choice(["gelu", "quick_gelu"]), pad=tok.pad_token_id)
    g = torch.Generator().manual_seed(rng.randrange(1 << 30))
    pipe = pipeline(unets, vaes, texts, tok, {**LADDER, "prediction_type": rng.choice(["epsilon", "v_prediction"])}, g)
    pipe.scheduler = SCHEDULERS[name].from_config(pipe.scheduler.config, timestep_spacing=rng.choice(["leading", "trailing"]), **({"skip_prk_steps": True} if name == "pndm" else {}))
    pipe.save_pretrained(folder)
    pipe = StableDiffusionPipeline.from_pretrained(folder)
    out = golden(pipe, g, (rng.randint(1, 9), rng.randint(2, 9)))
    out["image"] = sampled(pipe, (8 * rng.randint(2, 6), 8 * rng.randint(2, 6)))
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")
    print(name, widths, [k[0] for k in kinds], "contrast", out["image"].std().item())


def main(root, seed):
    rng = random.Random(int(seed))
    for name in SCHEDULERS:
        draw(pathlib.Path(root) / name, name, rng)


if __name__ == "__main__":
    main(*sys.argv[1:])

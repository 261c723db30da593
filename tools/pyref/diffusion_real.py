#!/usr/bin/env python3
"""Stable Diffusion 1.5's shape with random weights: one step of the UNet and one decoding at 512×512, with time and memory.

    python tools/pyref/diffusion_real.py DIR SEED REPEAT [latent side]

Writes DIR as a pipeline folder (weights in float16, computed with in float32) and DIR/golden.safetensors, and prints one JSON
object. Each network runs in a process of its own, so that its peak is its own. Run by: go test -tags checks -run Real
./gomlxmodels/diffusion
"""

import json
import multiprocessing
import pathlib
import resource
import sys
import time

import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from diffusion import CROSS, LADDER, PLAIN, channels_last, text, tokenizer, unet, vae
from safetensors.torch import save_file
from transformers import CLIPTextConfig, CLIPTextModel

torch.set_num_threads(2)


def stir(model, generator):
    """Weights as they start, but norms and biases a little off 1 and 0."""
    with torch.no_grad():
        for p in model.parameters():
            if p.ndim == 1:
                p.add_(torch.randn(p.shape, generator=generator) * 0.05)
    return model.half().eval()


def make(folder, seed):
    g = torch.Generator().manual_seed(seed)
    torch.manual_seed(seed)
    tok = tokenizer(folder / "tokenizer", 77, "<|endoftext|>")
    parts = dict(
        unet=stir(UNet2DConditionModel(**unet((320, 640, 1280, 1280), (CROSS, CROSS, CROSS, PLAIN), cross_attention_dim=768, attention_head_dim=8, sample_size=64)), g),
        vae=stir(AutoencoderKL(**vae((128, 256, 512, 512), layers_per_block=2, sample_size=512)), g),
        text_encoder=stir(CLIPTextModel(CLIPTextConfig(**{**text(768, 12, 12, 49407, hidden_act="quick_gelu"), "intermediate_size": 3072})), g),
    )
    StableDiffusionPipeline(**parts, tokenizer=tok, scheduler=DDIMScheduler(**LADDER), safety_checker=None, feature_extractor=None, requires_safety_checker=False).save_pretrained(folder)


def measure(folder, name, inputs, repeat, queue):
    """Loads one network, runs it, and says how long the quickest run took and how much memory it held at most."""
    kind, run = {
        "unet": (UNet2DConditionModel, lambda m: m(*inputs).sample),
        "vae": (AutoencoderKL, lambda m: m.decode(*inputs).sample),
        "text_encoder": (CLIPTextModel, lambda m: m(*inputs).last_hidden_state),
    }[name]
    model = kind.from_pretrained(folder / name, torch_dtype=torch.float32).eval()
    model = model.to(memory_format=torch.channels_last) if name != "text_encoder" else model
    seconds = []
    with torch.inference_mode():
        for _ in range(repeat):
            begin = time.perf_counter()
            out = run(model)
            seconds.append(time.perf_counter() - begin)
    queue.put((channels_last(out.float()).contiguous().numpy(), min(seconds), resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10))


def main(folder, seed, repeat, side=64):
    folder, seed, side = pathlib.Path(folder), int(seed), int(side)
    maker = multiprocessing.get_context("spawn").Process(target=make, args=(folder, seed))
    maker.start()
    maker.join()
    if maker.exitcode:
        sys.exit(1)
    g = torch.Generator().manual_seed(seed + 1)
    sample, context = torch.randn(2, 4, side, side, generator=g), torch.randn(2, 77, 768, generator=g)
    t, z = torch.tensor([500.0, 500.0]), torch.randn(1, 4, side, side, generator=g)
    ids = torch.randint(0, 49406, (1, 77), generator=g)
    out, report = {"sample": channels_last(sample), "context": context, "t": t, "z": channels_last(z), "ids": ids}, {}
    for name, inputs, result in (("text_encoder", (ids,), "text"), ("unet", (sample, t, context), "unet"), ("vae", (z,), "decoder")):
        queue = multiprocessing.get_context("spawn").Queue()
        p = multiprocessing.get_context("spawn").Process(target=measure, args=(folder, name, inputs, int(repeat), queue))
        p.start()
        value, report[result + "_seconds"], report[result + "_MiB"] = queue.get()
        out[result] = torch.from_numpy(value)
        p.join()
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")
    print(json.dumps(report))


if __name__ == "__main__":
    main(*sys.argv[1:])

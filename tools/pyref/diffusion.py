#!/usr/bin/env python3
"""Goldens for gomlxmodels/diffusion: small random StableDiffusionPipeline folders, saved as diffusers saves them, with what every
stage of text tower, UNet and autoencoder gives, and pictures sampled with them.

    python tools/pyref/diffusion.py gomlxmodels/diffusion/testdata

Versions: torch 2.15.0, transformers 5.23.0, diffusers 0.42.1, safetensors, Python 3.11+. Seed 20220822 (per pipeline: + its
number). Weights are stored in float16 and read back as float32; torch runs on one thread in float32. Stages of pictures are
stored with their channels last.
"""

import json
import pathlib
import shutil
import sys

import torch
from diffusers import AutoencoderKL, DDIMScheduler, EulerAncestralDiscreteScheduler, StableDiffusionPipeline, UNet2DConditionModel
from safetensors.torch import load_file, save_file
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

torch.set_num_threads(1)
SEED = 20220822
PROMPT, NEGATIVE = "a small house by the sea", "blurry"


def shake(model, generator, gain=1.0):
    """Random values in every parameter, so that none is at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            wide = p.ndim >= 2 and "embedding.weight" not in name
            p.normal_(0, gain * p[0].numel() ** -0.5 if wide else 0.2, generator=generator)
            if "norm" in name and name.endswith("weight"):
                p.add_(1)
    return model.eval()


def tokenizer(folder, length, pad):
    """A CLIP tokenizer whose vocabulary is the bytes alone, and a few joined letters."""
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters = [chr(b) for b in printable] + [chr(256 + i) for i in range(256 - len(printable))]
    merges = [("s", "e"), ("h", "o"), ("a", "l"), ("t", "h"), ("th", "e</w>")]
    tokens = letters + [c + "</w>" for c in letters] + [a + b for a, b in merges] + ["<|startoftext|>", "<|endoftext|>"]
    vocab = {t: i for i, t in enumerate(tokens)}
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "vocab.json").write_text(json.dumps(vocab))
    (folder / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    t = CLIPTokenizer.from_pretrained(folder, model_max_length=length, pad_token=pad, unk_token="<|endoftext|>", bos_token="<|startoftext|>", eos_token="<|endoftext|>")
    assert t.eos_token_id == len(tokens) - 1
    shutil.rmtree(folder)
    return t


def channels_last(x):
    return x.permute(0, 2, 3, 1) if x.ndim == 4 else x


class Stages:
    """Keeps what modules give."""

    def __init__(self):
        self.out, self.hooks = {}, []

    def keep(self, name, module, pick=lambda r: r[0] if isinstance(r, tuple) else r):
        def hook(_, __, result):
            self.out[name] = channels_last(pick(result))

        self.hooks.append(module.register_forward_hook(hook))

    def done(self):
        for h in self.hooks:
            h.remove()
        self.hooks = []


def clip_text(pipe, s, generator):
    """The stages of a CLIPTextModel on random ids."""
    text, end = pipe.text_encoder, pipe.tokenizer.eos_token_id
    length = text.config.max_position_embeddings
    ids = torch.randint(0, end - 1, (2, length), generator=generator)
    ids[0, 3:], ids[1, length // 2] = end, end
    tower = getattr(text, "text_model", text)
    for i, layer in enumerate(tower.encoder.layers):
        s.keep(f"text.block_{i}", layer)
    s.out["text.hidden"] = text(ids).last_hidden_state
    s.out["ids"] = ids


def golden(pipe, generator, latent, text=clip_text):
    """Each stage of each network, on random inputs; latent is (height, width)."""
    s = Stages()
    unet, vae, length = pipe.unet, pipe.vae, pipe.tokenizer.model_max_length
    with torch.inference_mode():
        text(pipe, s, generator)
        s.done()
        s.keep("unet.time", unet.time_embedding)
        s.keep("unet.in", unet.conv_in)
        for i, b in enumerate(unet.down_blocks):
            s.keep(f"unet.down_{i}", b)
        s.keep("unet.mid", unet.mid_block)
        for i, b in enumerate(unet.up_blocks):
            s.keep(f"unet.up_{i}", b)
        sample = torch.randn(2, unet.config.in_channels, *latent, generator=generator)
        context = torch.randn(2, length, unet.config.cross_attention_dim, generator=generator)
        t = torch.tensor([741.0, 3.5])
        s.out["unet.out"] = channels_last(unet(sample, t, context).sample)
        s.done()
        for name, part in (("encoder", vae.encoder), ("decoder", vae.decoder)):
            s.keep(f"{name}.in", part.conv_in)
            s.keep(f"{name}.mid", part.mid_block)
            for i, b in enumerate(part.down_blocks if name == "encoder" else part.up_blocks):
                s.keep(f"{name}.{'down' if name == 'encoder' else 'up'}_{i}", b)
        z = torch.randn(1, vae.config.latent_channels, *latent, generator=generator)
        s.out["decoder.out"] = channels_last(vae.decode(z).sample)
        step = 2 ** (len(vae.config.block_out_channels) - 1)
        picture = torch.rand(1, 3, latent[0] * step, latent[1] * step, generator=generator) * 2 - 1
        d = vae.encode(picture).latent_dist
        s.out["encoder.mean"], s.out["encoder.logvar"] = channels_last(d.mean), channels_last(d.logvar)
        s.done()
    s.out.update({"sample": channels_last(sample), "context": context, "t": t, "z": channels_last(z), "picture": channels_last(picture)})
    return s.out


def sampled(pipe, size, steps=20, seeds=(7, 2**40 + 3), guidance=7.5, prompt=PROMPT):
    """Pictures [n,h,w,3] of 0 to 255 that the pipeline samples, one seed a picture."""
    pipe.set_progress_bar_config(disable=True)
    g = [torch.Generator().manual_seed(s) for s in seeds]
    r = pipe([prompt] * len(seeds), negative_prompt=[NEGATIVE] * len(seeds), height=size[0], width=size[1], num_inference_steps=steps, guidance_scale=guidance, generator=g, output_type="pt")
    return (r.images * 255).permute(0, 2, 3, 1).float()


def pipeline(unet, vae, text, tok, scheduler, generator):
    scheduler = scheduler if not isinstance(scheduler, dict) else DDIMScheduler(**scheduler)
    text = shake(CLIPTextModel(CLIPTextConfig(**text)), generator)
    unet = shake(UNet2DConditionModel(**unet), generator)
    vae = shake(AutoencoderKL(**vae), generator)
    return StableDiffusionPipeline(vae=vae, text_encoder=text, tokenizer=tok, unet=unet, scheduler=scheduler, safety_checker=None, feature_extractor=None, requires_safety_checker=False)


LADDER = dict(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1)
CROSS = ("CrossAttnDownBlock2D", "CrossAttnUpBlock2D")
PLAIN = ("DownBlock2D", "UpBlock2D")


def text(width, layers, heads, end, **kw):
    return dict(vocab_size=end + 1, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=layers, num_attention_heads=heads, max_position_embeddings=77,
                bos_token_id=end - 1, eos_token_id=end, pad_token_id=kw.pop("pad", end), **kw)


def vae(widths, **kw):
    return dict(block_out_channels=widths, down_block_types=("DownEncoderBlock2D",) * len(widths), up_block_types=("UpDecoderBlock2D",) * len(widths), **{"latent_channels": 4, "sample_size": 64, **kw})


def unet(widths, blocks, **kw):
    return dict(block_out_channels=widths, down_block_types=tuple(b[0] for b in blocks), up_block_types=tuple(b[1] for b in reversed(blocks)), sample_size=kw.pop("sample_size", 8), **kw)


def main(root):
    root = pathlib.Path(root)
    number = 0

    def make(name, size, latent, pad="<|endoftext|>", legacy=None, **parts):
        nonlocal number
        number += 1
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        g = torch.Generator().manual_seed(SEED + number)
        tok = tokenizer(folder / "tokenizer", 77, pad)
        parts["text"] = parts["text"](tok.eos_token_id, tok.pad_token_id)
        pipeline(tok=tok, generator=g, **parts).to(torch.float16).save_pretrained(folder)
        if legacy:
            legacy(folder)
        pipe = StableDiffusionPipeline.from_pretrained(folder, torch_dtype=torch.float32)
        out = golden(pipe, g, latent)
        out["image"] = sampled(pipe, size)
        if out["image"].std() < 20:
            raise SystemExit(f"{name}: a picture without contrast: {out['image'].std()}")
        save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")

    # as 1.x: 1×1 convolutions around the transformers, one number of heads, epsilon, quick_gelu, padding with the end token
    make("sd1", (32, 24), (4, 6),
         unet=unet((8, 12, 12), (CROSS, CROSS, PLAIN), layers_per_block=2, cross_attention_dim=12, attention_head_dim=2, norm_num_groups=4),
         vae=vae((4, 8, 12), layers_per_block=2, norm_num_groups=4, scaling_factor=0.18215),
         text=lambda end, pad: text(12, 2, 2, end, hidden_act="quick_gelu", pad=pad), scheduler=LADDER)

    # as 2.x: dense layers instead, heads by block, v prediction, GELU, padding with "!", the legacy end
    make("sd2", (24, 32), (8, 4), pad="!",
         unet=unet((8, 8, 16), (CROSS, CROSS, PLAIN), layers_per_block=1, cross_attention_dim=16, attention_head_dim=[1, 2, 4], use_linear_projection=True, upcast_attention=True, norm_num_groups=8),
         vae=vae((8, 16), layers_per_block=1, norm_num_groups=8, scaling_factor=0.3),
         text=lambda end, pad: {**text(16, 3, 4, end, hidden_act="gelu", pad=pad), "eos_token_id": 2, "projection_dim": 9},
         scheduler={**LADDER, "prediction_type": "v_prediction"})

    # what else may differ: other blocks with attention, several transformer layers, odd sizes of latents, no attention in the
    # autoencoder's middle, another order of the time embedding, names and settings of the hub's first folders
    def old_names(folder):
        path = folder / "vae" / "diffusion_pytorch_model.safetensors"
        names = {"to_q": "query", "to_k": "key", "to_v": "value", "to_out.0": "proj_attn"}
        tensors = {}
        for key, value in load_file(path).items():
            for new, old in names.items():
                key = key.replace(f"attentions.0.{new}.", f"attentions.0.{old}.")
            tensors[key] = value
        save_file(tensors, path, metadata={"format": "pt"})
        path = folder / "text_encoder" / "model.safetensors"
        tensors = {key if key.startswith("text_model.") else "text_model." + key: value for key, value in load_file(path).items()}
        tensors["text_model.embeddings.position_ids"] = torch.arange(77)[None]
        save_file(tensors, path, metadata={"format": "pt"})
        path = folder / "scheduler" / "scheduler_config.json"  # settings that the pipeline corrects
        path.write_text(json.dumps({**json.loads(path.read_text()), "clip_sample": True, "steps_offset": 0}, indent=2))

    make("odd", (24, 40), (3, 5), legacy=old_names,
         unet=unet((6, 6, 12), (PLAIN, CROSS, CROSS), layers_per_block=[1, 2, 1], transformer_layers_per_block=[1, 2, 1], cross_attention_dim=10, attention_head_dim=3, norm_num_groups=3,
                   flip_sin_to_cos=False, freq_shift=1, norm_eps=1e-4, sample_size=9),
         vae=vae((6, 6, 9, 12), layers_per_block=1, norm_num_groups=3, scaling_factor=0.5),
         text=lambda end, pad: text(10, 1, 5, end, hidden_act="gelu", layer_norm_eps=1e-4, pad=pad), scheduler={**LADDER, "timestep_spacing": "trailing", "set_alpha_to_one": True})

    # an autoencoder without attention and without convolutions between its halves; one block, one head; a scheduler that draws noise
    make("bare", (16, 24), (9, 3),
         unet=unet((8, 8), (CROSS, PLAIN), layers_per_block=1, cross_attention_dim=8, attention_head_dim=1, norm_num_groups=2),
         vae=vae((4, 8), layers_per_block=1, norm_num_groups=2, scaling_factor=1.0, mid_block_add_attention=False, use_quant_conv=False, use_post_quant_conv=False),
         text=lambda end, pad: text(8, 1, 1, end, hidden_act="gelu", pad=pad),
         scheduler=EulerAncestralDiscreteScheduler(**{k: LADDER[k] for k in ("beta_start", "beta_end", "beta_schedule", "steps_offset")}, timestep_spacing="leading"))

    print(json.dumps({p.name: sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

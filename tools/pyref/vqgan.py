#!/usr/bin/env python3
"""Goldens for gomlxmodels/vqgan: decoders of small random VQGANs. A folder has config.json (the keys of vqgan-jax), tensors.json
(names, shapes, means and deviations; both sides compute the values from the names) and golden.safetensors: codes [B,N] and
image [B,H,W,3].

    python tools/pyref/vqgan.py gomlxmodels/vqgan/testdata

taming: names and layout of taming-transformers (PyTorch), with an encoder's tensors that are not read; flax: those of vqgan-jax.
The decoder is written here from the papers' description, and compared with diffusers' VQModel of the same weights.

Versions: torch 2.15.0, diffusers 0.42.1, safetensors, Python 3.11+. Seed 20210415. Torch runs on one thread in float32.
"""

import json
import pathlib
import sys

import numpy as np
import torch
import torch.nn.functional as F
from diffusers import VQModel
from safetensors.torch import save_file
from torch import nn

torch.set_num_threads(1)
SEED = 20210415
MASK = (1 << 64) - 1


def uniform(seed, name, count):
    """count numbers between -1 and 1: SplitMix64 from the FNV-1a hash of the name."""
    h = 0xCBF29CE484222325
    for byte in f"{seed}/{name}".encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(h) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


def value(seed, name, shape, mean, deviation):
    n = int(np.prod(shape))
    return torch.from_numpy((mean + uniform(seed, name, n) * (deviation * 3**0.5)).astype(np.float32)).reshape(shape)


class Residual(nn.Module):
    def __init__(self, cin, cout):
        super().__init__()
        self.norm1, self.conv1 = nn.GroupNorm(32, cin, eps=1e-6), nn.Conv2d(cin, cout, 3, padding=1)
        self.norm2, self.conv2 = nn.GroupNorm(32, cout, eps=1e-6), nn.Conv2d(cout, cout, 3, padding=1)
        if cin != cout:
            self.nin_shortcut = nn.Conv2d(cin, cout, 1)

    def forward(self, x):
        y = self.conv2(F.silu(self.norm2(self.conv1(F.silu(self.norm1(x))))))
        return y + (self.nin_shortcut(x) if hasattr(self, "nin_shortcut") else x)


class Attention(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.norm = nn.GroupNorm(32, c, eps=1e-6)
        self.q, self.k, self.v, self.proj_out = (nn.Conv2d(c, c, 1) for _ in range(4))

    def forward(self, x):
        y = self.norm(x)
        q, k, v = (f(y).flatten(2) for f in (self.q, self.k, self.v))  # [B,C,N]
        p = torch.softmax(torch.einsum("bci,bcj->bij", q, k) * x.shape[1] ** -0.5, -1)
        return x + self.proj_out(torch.einsum("bij,bcj->bci", p, v).reshape(x.shape))


class Middle(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.block_1, self.attn_1, self.block_2 = Residual(c, c), Attention(c), Residual(c, c)

    def forward(self, x):
        return self.block_2(self.attn_1(self.block_1(x)))


class Doubled(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.conv = nn.Conv2d(c, c, 3, padding=1)

    def forward(self, x):
        return self.conv(F.interpolate(x, scale_factor=2, mode="nearest"))


class Decoder(nn.Module):
    def __init__(self, c):
        super().__init__()
        widths = [c["ch"] * m for m in c["ch_mult"]]
        at = widths[-1]
        self.conv_in, self.mid = nn.Conv2d(c["z_channels"], at, 3, padding=1), Middle(at)
        up = []
        for i in reversed(range(len(widths))):
            level = nn.Module()
            side = c["resolution"] >> i
            level.block, level.attn = nn.ModuleList(), nn.ModuleList()
            for _ in range(c["num_res_blocks"] + 1):
                level.block.append(Residual(at, widths[i]))
                at = widths[i]
                if side in c["attn_resolutions"]:
                    level.attn.append(Attention(at))
            if i > 0:
                level.upsample = Doubled(at)
            up.insert(0, level)
        self.up = nn.ModuleList(up)
        self.norm_out, self.conv_out = nn.GroupNorm(32, at, eps=1e-6), nn.Conv2d(at, c["out_ch"], 3, padding=1)

    def forward(self, z):
        x = self.mid(self.conv_in(z))
        for level in reversed(self.up):
            for j, block in enumerate(level.block):
                x = block(x)
                if len(level.attn):
                    x = level.attn[j](x)
            if hasattr(level, "upsample"):
                x = level.upsample(x)
        return self.conv_out(F.silu(self.norm_out(x)))


class VQGAN(nn.Module):
    def __init__(self, c):
        super().__init__()
        self.quantize = nn.Module()
        self.quantize.embedding = nn.Embedding(c["n_embed"], c["embed_dim"])
        self.post_quant_conv, self.decoder = nn.Conv2d(c["embed_dim"], c["z_channels"], 1), Decoder(c)

    def forward(self, codes):
        side = int(codes.shape[1] ** 0.5)
        z = self.quantize.embedding(codes).transpose(1, 2).reshape(len(codes), -1, side, side)
        return self.decoder(self.post_quant_conv(z))


def spread(name, shape):
    if "norm" in name:
        return (1.0, 0.3) if name.endswith("weight") else (0.0, 0.3)
    if name.endswith("bias"):
        return 0.0, 0.1
    if "embedding" in name:
        return 0.0, 1.0
    return 0.0, float(np.prod(shape[1:])) ** -0.5


def flaxed(name, shape):
    """Name and shape in vqgan-jax, and the permutation from its layout to torch's."""
    name = ".".join(name.split(".")).replace(".", "/")
    for part in ("up", "block", "attn"):
        pieces, out, i = name.split("/"), [], 0
        while i < len(pieces):
            if pieces[i] == part and i + 1 < len(pieces) and pieces[i + 1].isdigit():
                out.append(f"{part}_{pieces[i + 1]}")
                i += 2
            else:
                out.append(pieces[i])
                i += 1
        name = "/".join(out)
    head, last = name.rsplit("/", 1)
    if last == "bias":
        return name, shape, None
    if len(shape) == 4:
        return head + "/kernel", [shape[2], shape[3], shape[1], shape[0]], (3, 2, 0, 1)
    return head + ("/embedding" if "embedding" in head else "/scale"), shape, None


def fill(model, seed, flax):
    """Random values in all parameters; the tensors as the checkpoint names them: shape, mean, deviation."""
    listed = {}
    with torch.no_grad():
        for name, p in model.named_parameters():
            shape, order = list(p.shape), None
            mean, deviation = spread(name, shape)
            if flax:
                name, shape, order = flaxed(name, shape)
            v = value(seed, name, shape, mean, deviation)
            p.copy_(v.permute(order) if order else v)
            listed[name] = [shape, mean, deviation]
    return listed


def as_diffusers(model, c):
    """The same decoder as diffusers' VQModel."""
    n = len(c["ch_mult"])
    up = ["AttnUpDecoderBlock2D" if c["resolution"] >> (n - 1 - i) in c["attn_resolutions"] else "UpDecoderBlock2D" for i in range(n)]
    other = VQModel(in_channels=3, out_channels=c["out_ch"], down_block_types=["DownEncoderBlock2D"] * n, up_block_types=up, block_out_channels=[c["ch"] * m for m in c["ch_mult"]],
                    layers_per_block=c["num_res_blocks"], latent_channels=c["z_channels"], num_vq_embeddings=c["n_embed"], vq_embed_dim=c["embed_dim"], norm_num_groups=32).eval()
    state = {k: v for k, v in other.state_dict().items() if k.startswith("encoder.") or k.startswith("quant_conv")}
    for name, v in model.state_dict().items():
        p = name.split(".")
        if p[:2] == ["decoder", "up"]:
            kind = {"block": "resnets", "attn": "attentions", "upsample": "upsamplers"}[p[3]]
            p = ["decoder", "up_blocks", str(n - 1 - int(p[2])), kind] + (["0"] + p[4:] if kind == "upsamplers" else p[4:])
        elif p[:2] == ["decoder", "mid"]:
            p = ["decoder", "mid_block"] + {"block_1": ["resnets", "0"], "attn_1": ["attentions", "0"], "block_2": ["resnets", "1"]}[p[2]] + p[3:]
        name = ".".join(p).replace("nin_shortcut", "conv_shortcut").replace("decoder.norm_out", "decoder.conv_norm_out")
        if "attentions" in name:
            for a, b in ((".norm.", ".group_norm."), (".q.", ".to_q."), (".k.", ".to_k."), (".v.", ".to_v."), (".proj_out.", ".to_out.0.")):
                name = name.replace(a, b)
            v = v.flatten(1) if v.ndim == 4 else v
        state[name] = v
    other.load_state_dict(state, strict=True)
    return other


def make(folder, c, flax, seed=SEED):
    folder.mkdir(parents=True, exist_ok=True)
    model = VQGAN(c).eval()
    listed = fill(model, seed, flax)
    if not flax:
        listed.update({"encoder.conv_in.weight": [[4, 3, 3, 3], 0, 1], "quant_conv.bias": [[4], 0, 1], "loss.discriminator.main.0.bias": [[4], 0, 1]})
    (folder / "config.json").write_text(json.dumps(c))
    (folder / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
    return model


def main(out):
    base = dict(ch=32, out_ch=3, in_channels=3, num_res_blocks=1, resolution=8, z_channels=32, ch_mult=[1, 2], attn_resolutions=[4], n_embed=24, embed_dim=32, double_z=False, resamp_with_conv=True, give_pre_end=False, dropout=0.0)
    for name, c, flax in (("taming", base, False), ("flax", dict(base, num_res_blocks=2, resolution=16, ch_mult=[1, 1, 2], attn_resolutions=[4, 16], embed_dim=8, n_embed=40), True)):
        model = make(out / name, c, flax)
        side = c["resolution"] >> (len(c["ch_mult"]) - 1)
        codes = torch.randint(0, c["n_embed"], (2, side * side), generator=torch.Generator().manual_seed(SEED))
        with torch.inference_mode():
            image = model(codes)
            z = model.quantize.embedding(codes).transpose(1, 2).reshape(2, -1, side, side)
            other = as_diffusers(model, c).decode(z, force_not_quantize=True).sample
        far = (image - other).abs().max().item()
        assert far < 2e-5, far
        save_file({"codes": codes.float(), "image": image.permute(0, 2, 3, 1).contiguous()}, out / name / "golden.safetensors")
        print(name, tuple(image.shape), f"deviation {image.std():.3f}, inside [0,1]: {((image > 0) & (image < 1)).float().mean():.2f}, diffusers' differs by {far:.1e}")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

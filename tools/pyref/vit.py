#!/usr/bin/env python3
"""Goldens for gomlxmodels/vit: small random models of transformers (ViT, DINOv2, SigLIP) and timm, saved as those libraries save them, with
what every stage gives and with the masked embeddings in the three readings.

    python tools/pyref/vit.py gomlxmodels/vit/testdata

Versions: torch 2.15.0, transformers 5.24.0, timm 1.0.31, safetensors, Python 3.11+. Seed 20240617 (per configuration: + its number).
Torch runs on one thread in float32. `drop` removes tokens from the sequence, `neginf` adds minus infinity to the scores of
excluded keys, both through the libraries' own blocks; `zeroprob` replaces the attention by one that multiplies by 0 after the softmax.
"""

import json
import pathlib
import shutil
import sys

import timm
import torch
from safetensors.torch import save_file
from transformers import Dinov2Config, Dinov2Model, Dinov2WithRegistersConfig, Dinov2WithRegistersModel, SiglipConfig, SiglipModel, ViTConfig, ViTForImageClassification, ViTModel
from transformers.modeling_utils import ALL_ATTENTION_FUNCTIONS

torch.set_num_threads(1)
SEED = 20240617


def shake(model, generator):
    """Random values in every parameter, so that none is at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim >= 2 and not any(t in name for t in ("cls_token", "pos", "reg_token", "mask_token")):
                std = p[0].numel() ** -0.5 * 1.5
            else:
                std = 0.3
            p.normal_(0, std, generator=generator)
            if "norm" in name and name.endswith("weight") or "gamma" in name:
                p.add_(1)
    return model.eval()


class HF:
    """One face over transformers' ViT …"""

    def __init__(self, model):
        self.model = model
        self.vit = getattr(model, "vit", model)
        self.prefix = 1
        self.blocks = self.vit.layers
        self.keep = None

    def embed(self, pixels):
        return self.vit.embeddings(pixels)

    def block(self, blk, x, bias=None):
        return blk(x, bias)

    def norm(self, x):
        return self.vit.layernorm(x)

    def pool(self, x, keep, mode):
        return x[:, 0]

    def zeroprob(self, on, keep=None):
        def attention(module, q, k, v, mask, scaling=None, **kwargs):
            w = (q @ k.transpose(2, 3) * scaling).softmax(-1) * keep
            return (w @ v).transpose(1, 2).contiguous(), w

        ALL_ATTENTION_FUNCTIONS["zeroprob"] = attention
        self.vit.config._attn_implementation = "zeroprob" if on else "eager"


class Dino(HF):
    """… its DINOv2 …"""

    def __init__(self, model):
        self.model = self.vit = model
        self.prefix = 1 + getattr(model.config, "num_register_tokens", 0)
        self.blocks = model.encoder.layer


class Siglip(HF):
    """… its SigLIP …"""

    def __init__(self, model):
        self.model, self.vit = model.vision_model, model.vision_model
        self.prefix = 0
        self.blocks = self.vit.encoder.layers

    def norm(self, x):
        return self.vit.post_layernorm(x)

    def pool(self, x, keep, mode):
        """neginf and zeroprob by hand, in the head too."""
        head = self.vit.head
        if mode not in ("neginf", "zeroprob"):
            return head(x)
        q, k, v = torch.nn.functional.linear(torch.cat([head.probe, x], 1), head.attention.in_proj_weight, head.attention.in_proj_bias).chunk(3, -1)
        split = lambda y: y.unflatten(-1, (head.attention.num_heads, -1)).transpose(1, 2)
        q, k, v = split(q[:, :1]), split(k[:, 1:]), split(v[:, 1:])
        w = q @ k.transpose(2, 3) * q.shape[-1] ** -0.5
        w = w.softmax(-1) * keep if mode == "zeroprob" else w.masked_fill(~keep, float("-inf")).softmax(-1)
        y = head.attention.out_proj((w @ v).transpose(1, 2).flatten(2))
        return (y + head.mlp(head.layernorm(y)))[:, 0]


class Timm:
    """… and timm's."""

    def __init__(self, model):
        self.model = self.vit = model
        self.prefix = model.num_prefix_tokens
        self.blocks = model.blocks
        for b in self.blocks:
            b.attn.fused_attn = False

    def embed(self, pixels):
        m = self.vit
        return m.norm_pre(m.patch_drop(m._pos_embed(m.patch_embed(pixels))))

    def block(self, blk, x, bias=None):
        return blk(x, attn_mask=bias)

    def norm(self, x):
        return self.vit.norm(x)

    def pool(self, x, keep, mode):
        return x[:, 0]

    def zeroprob(self, on, keep=None):
        def attention(a):
            def forward(x, attn_mask=None, is_causal=False):
                b, n, c = x.shape
                q, k, v = a.qkv(x).reshape(b, n, 3, a.num_heads, a.head_dim).permute(2, 0, 3, 1, 4).unbind(0)
                w = (q @ k.transpose(-2, -1) * a.scale).softmax(-1) * keep
                return a.proj((w @ v).transpose(1, 2).reshape(b, n, c))

            return forward

        for b in self.blocks:
            if on:
                b.attn.forward = attention(b.attn)
            elif "forward" in b.attn.__dict__:
                del b.attn.forward


def stages(face, pixels):
    out = {"embedded": face.embed(pixels)}
    x = out["embedded"]
    for i, blk in enumerate(face.blocks):
        x = out[f"block_{i}"] = face.block(blk, x)
    out["norm"] = face.norm(x)
    out["cls"] = face.pool(out["norm"], None, None)
    return out


def masked(face, pixels, keep, mode):
    """The class token with only the patches of keep [N] for one picture."""
    x = face.embed(pixels[None])
    keep = torch.cat([torch.ones(face.prefix, dtype=torch.bool), keep])
    bias = None
    if mode == "drop":
        x = x[:, keep]
    elif mode == "neginf":
        bias = torch.zeros(1, 1, x.shape[1], x.shape[1]).masked_fill(~keep[None, None, None, :], float("-inf"))
    else:
        face.zeroprob(True, keep.float()[None, None, None, :])
    for blk in face.blocks:
        x = face.block(blk, x, bias)
    face.zeroprob(False)
    return face.pool(face.norm(x), keep, mode)[0]


def golden(face, size, patch, generator, folder):
    rows, columns = size[0] // patch[0], size[1] // patch[1]
    pixels = torch.randn(2, 3, *size, generator=generator)
    obj = torch.rand(2, rows * columns, generator=generator) < 0.4
    obj[1] = False
    obj[1, rows * columns // 2] = True  # a single object patch
    with torch.inference_mode():
        out = stages(face, pixels)
        whole = face.model(pixels)
        hidden = getattr(whole, "last_hidden_state", None)
        if hidden is not None:
            assert (hidden - out["norm"]).abs().max() < 1e-5
        if getattr(whole, "pooler_output", None) is not None and type(face) is HF:
            out["pooled"] = whole.pooler_output
        logits = whole if torch.is_tensor(whole) else getattr(whole, "logits", None)
        if logits is not None and logits.shape[-1] != out["cls"].shape[-1]:
            out["logits"] = logits
        for mode in ("drop", "neginf", "zeroprob"):
            out[f"{mode}.object"] = torch.stack([masked(face, p, o, mode) for p, o in zip(pixels, obj)])
            out[f"{mode}.background"] = torch.stack([masked(face, p, ~o, mode) for p, o in zip(pixels, obj)])
    out["pixels"], out["object"] = pixels, obj.float()
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def hf_config(**kw):
    base = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=48, image_size=32, patch_size=8, attn_implementation="eager")
    return ViTConfig(**{**base, **kw})


def main(root):
    root = pathlib.Path(root)
    number = 0

    def start(name):
        nonlocal number
        number += 1
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder, torch.Generator().manual_seed(SEED + number)

    # transformers, no prefix, pooler; an odd patch that does not divide the picture
    folder, g = start("hf-pooler-odd")
    m = shake(ViTModel(hf_config(image_size=31, patch_size=7)), g)
    m.save_pretrained(folder)
    golden(HF(m), (31, 31), (7, 7), g, folder)

    # transformers, classifier and prefix vit., no qkv bias, tanh GELU, an oblong picture
    folder, g = start("hf-classifier-oblong")
    m = shake(ViTForImageClassification(hf_config(image_size=(24, 40), patch_size=(8, 8), qkv_bias=False, hidden_act="gelu_pytorch_tanh", num_labels=5)), g)
    m.save_pretrained(folder)
    golden(HF(m), (24, 40), (8, 8), g, folder)

    # transformers 5's names in memory, without pooler
    folder, g = start("hf5-memory")
    m = shake(ViTModel(hf_config(num_attention_heads=2, hidden_act="quick_gelu", layer_norm_eps=1e-5), add_pooling_layer=False), g)
    m.config.save_pretrained(folder)
    save_file({k: v.clone() for k, v in m.state_dict().items()}, folder / "model.safetensors")
    golden(HF(m), (32, 32), (8, 8), g, folder)

    # transformers, bfloat16 in shards
    folder, g = start("hf-bf16-shards")
    m = shake(ViTModel(hf_config(num_hidden_layers=3), add_pooling_layer=False), g).to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="30KB")
    golden(HF(m.float()), (32, 32), (8, 8), g, folder)

    def small(name, **kw):
        base = dict(img_size=32, patch_size=8, embed_dim=32, depth=2, num_heads=4, mlp_ratio=1.5, num_classes=0)
        args = {**base, **kw}
        return timm.create_model(name, pretrained=False, **args), args

    def save_timm(m, args, folder):
        timm.models.save_for_hf(m, folder, model_args={k: v for k, v in args.items()}, safe_serialization=True)
        (folder / "pytorch_model.bin").unlink(missing_ok=True)

    # timm, plain, with its classification head
    folder, g = start("timm-plain")
    m, args = small("vit_tiny_patch16_224", num_classes=7)
    save_timm(shake(m, g), args, folder)
    golden(Timm(m), (32, 32), (8, 8), g, folder)

    # timm, everything else that is read: registers, positions of patches only, norm before block 1, layer scale, no qkv bias
    folder, g = start("timm-registers")
    m, args = small("vit_small_patch16_224", img_size=(20, 30), patch_size=5, qkv_bias=False, init_values=0.1, reg_tokens=2, no_embed_class=True, pre_norm=True, act_layer="gelu_tanh")
    save_timm(shake(m, g), args, folder)
    golden(Timm(m), (20, 30), (5, 5), g, folder)

    # timm, CLIP's flavour
    folder, g = start("timm-clip-quickgelu")
    m, args = small("vit_base_patch16_clip_quickgelu_224")
    save_timm(shake(m, g), args, folder)
    golden(Timm(m), (32, 32), (8, 8), g, folder)

    def dino(name, config, model, size, memory=False, **kw):
        """position embeddings of image_size, images of another size"""
        folder, g = start(name)
        base = dict(hidden_size=32, num_hidden_layers=2, num_attention_heads=4, mlp_ratio=2, patch_size=7, attn_implementation="eager")
        m = shake(model(config(**{**base, **kw})), g)
        if memory:  # transformers 5's names
            m.config.save_pretrained(folder)
            save_file({k: v.clone() for k, v in m.state_dict().items()}, folder / "model.safetensors")
        else:
            m.save_pretrained(folder)
        processor = {"image_processor_type": "BitImageProcessor", "do_resize": True, "size": {"shortest_edge": 60}, "resample": 3, "do_center_crop": True}
        (folder / "preprocessor_config.json").write_text(json.dumps({**processor, "crop_size": {"height": size[0], "width": size[1]}}))
        golden(Dino(m), size, (7, 7), g, folder)

    dino("dinov2-down", Dinov2Config, Dinov2Model, (28, 28), image_size=42)
    dino("dinov2-giant-up", Dinov2Config, Dinov2Model, (28, 40), image_size=21, use_swiglu_ffn=True, use_mask_token=False, memory=True)
    dino("dinov2-registers-down", Dinov2WithRegistersConfig, Dinov2WithRegistersModel, (21, 28), image_size=42, use_swiglu_ffn=True)
    dino("dinov2-registers-up", Dinov2WithRegistersConfig, Dinov2WithRegistersModel, (35, 35), image_size=21, num_register_tokens=2, qkv_bias=False, memory=True)

    folder, g = start("timm-dinov2-giant")
    m, args = small("vit_giant_patch14_dinov2", patch_size=7, img_size=21, mlp_ratio=1)
    save_timm(shake(m, g), args, folder)
    golden(Timm(m), (21, 21), (7, 7), g, folder)

    folder, g = start("siglip")
    text = dict(hidden_size=8, intermediate_size=8, num_hidden_layers=1, num_attention_heads=1, vocab_size=9, max_position_embeddings=4, projection_size=32)
    vision = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4, image_size=30, patch_size=8)
    m = shake(SiglipModel(SiglipConfig(text_config=text, vision_config=vision, attn_implementation="eager")), g)
    m.save_pretrained(folder)
    golden(Siglip(m), (30, 30), (8, 8), g, folder)

    for p in sorted(root.rglob("*")):
        if p.is_file() and p.stat().st_size > 200_000:
            print("large:", p, p.stat().st_size)
    print(json.dumps({str(p.relative_to(root)): sum(f.stat().st_size for f in p.iterdir()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

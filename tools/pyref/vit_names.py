#!/usr/bin/env python3
"""What timm builds for the architecture names gomlxmodels/vit reads, without weights.

    python tools/pyref/vit_names.py > gomlxmodels/vit/testdata/timm_names.json

Versions: torch 2.15.0, timm 1.0.31.
"""

import json
import re

import timm
import torch

NAME = re.compile(r"^(vit|deit)_(tiny|small|base|large|huge|giant|gigantic)_patch\d+(((_clip(_quickgelu)?)?_\d+)|((_reg4)?_dinov2))$")


def act(m):
    a = m.blocks[0].mlp.act
    return {"GELU": "gelu", "QuickGELU": "quick_gelu", "SiLU": "silu"}[type(a).__name__]


out = {}
for name in timm.list_models():
    if not NAME.match(name):
        continue
    with torch.device("meta"):
        m = timm.create_model(name, pretrained=False)
    b = m.blocks[0]
    out[name] = {
        "hidden_size": m.embed_dim,
        "num_hidden_layers": len(m.blocks),
        "num_attention_heads": b.attn.num_heads,
        "intermediate_size": b.mlp.fc2.in_features,
        "hidden_act": act(m),
        "layer_norm_eps": m.norm.eps,
        "image_size": list(m.patch_embed.img_size),
        "patch_size": list(m.patch_embed.patch_size),
        "num_channels": 3,
        "qkv_bias": b.attn.qkv.bias is not None,
        "Registers": m.num_reg_tokens,
        "PatchPositions": m.no_embed_class,
        "PreNorm": type(m.norm_pre).__name__ != "Identity",
        "Gated": b.mlp.fc1.out_features > b.mlp.fc2.in_features,
        "LayerScale": type(b.ls1).__name__ == "LayerScale",
    }
print(json.dumps(out, indent=1))

#!/usr/bin/env python3
"""What transformers makes of the shipped model: embeddings of the pictures in this folder, whole and masked.

    python gomlxmodels/archipelago/weights/testdata/reference.py

Reads archipelago-vit/ beside this folder and NAME.png, NAME.mask.png here; writes reference.json. Versions: transformers 5.23.0,
torch 2.15.0, one thread, float32. The masked embeddings remove the other side's patch tokens before the first block
(positions added before), by transformers' own layers; a patch of 16x16 pixels with any mask pixel is an object patch.
"""

import json
import pathlib

import numpy as np
import torch
from PIL import Image
from transformers import AutoImageProcessor, ViTForImageClassification

torch.set_num_threads(1)
here = pathlib.Path(__file__).parent
folder = here.parent / "archipelago-vit"
processor = AutoImageProcessor.from_pretrained(folder)
model = ViTForImageClassification.from_pretrained(folder, dtype=torch.float32).eval()
vit = model.vit


def masked(pixels, keep):
    x = vit.embeddings(pixels)
    x = x[:, torch.cat([torch.tensor([True]), keep])]
    for layer in vit.layers if hasattr(vit, "layers") else vit.encoder.layer:
        x = layer(x)
        x = x[0] if isinstance(x, tuple) else x
    return vit.layernorm(x)[0, 0]


out = {}
with torch.inference_mode():
    for mask_path in sorted(here.glob("*.mask.png")):
        name = mask_path.name.removesuffix(".mask.png")
        picture = Image.open(here / f"{name}.png").convert("RGB")
        pixels = processor(picture, return_tensors="pt")["pixel_values"]
        mask = np.asarray(Image.open(mask_path).convert("L")) > 0
        patches = torch.tensor(mask.reshape(8, 16, 8, 16).any(axis=(1, 3)).reshape(-1))
        everything = torch.ones_like(patches)
        full = vit(pixels).last_hidden_state[0, 0]
        assert torch.allclose(full, masked(pixels, everything), atol=1e-5)
        out[name] = {
            "full": full.tolist(),
            "object_only": masked(pixels, patches).tolist(),
            "background_only": masked(pixels, ~patches).tolist(),
            "label": model.config.id2label[int(model(pixels).logits.argmax())],
        }
(here / "reference.json").write_text(json.dumps(out, indent=0) + "\n")
print({k: v["label"] for k, v in out.items()})

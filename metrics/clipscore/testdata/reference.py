#!/usr/bin/env python3
"""Golden values of package clipscore from torchmetrics 1.9.0, seed 4: its clip_score over vectors of a stand-in model.

    python metrics/clipscore/testdata/reference.py
"""

import json
import pathlib
import sys
import types

import torch
import torchmetrics.functional.multimodal.clip_score  # noqa: F401

module = sys.modules["torchmetrics.functional.multimodal.clip_score"]
torch.manual_seed(4)


class Processor:
    """Hands numbers of pictures and texts on."""

    def __call__(self, text=None, images=None, **_):
        key = "input_ids" if text is not None else "pixel_values"
        rows = [int(t) for t in text] if text is not None else [int(i[0, 0, 0]) for i in images]
        return {key: torch.tensor(rows), "attention_mask": torch.ones(len(rows), 1)}


class Model:
    """Looks vectors up."""

    config = types.SimpleNamespace(text_config=types.SimpleNamespace(max_position_embeddings=77))

    def __init__(self, pictures, texts):
        self.pictures, self.texts = pictures, texts

    def to(self, _):
        return self

    def get_image_features(self, rows):
        return self.pictures[rows]

    def get_text_features(self, rows, _):
        return self.texts[rows]


out = []
for n, width, shift in ((1, 8, 0.0), (40, 16, 0.3), (25, 5, -0.6)):
    texts = torch.randn(n, width)
    pictures = torch.randn(n, width) + shift * texts
    model = Model(pictures, texts)
    module._get_clip_model_and_processor = lambda _: (model, Processor())
    images = [torch.full((3, 2, 2), i) for i in range(n)]
    words = [str(i) for i in range(n)]
    each, _ = module._clip_score_update(images, words, model, Processor())
    out.append({"images": pictures.tolist(), "texts": texts.tolist(), "each": each.tolist(), "score": float(module.clip_score(images, words, "stand-in"))})
pathlib.Path(__file__).with_name("reference.json").write_text(json.dumps(out) + "\n")

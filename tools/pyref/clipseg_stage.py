#!/usr/bin/env python3
"""Goldens for gomlxmodels/stage/segment: what CLIPSegProcessor and CLIPSegForImageSegmentation, with the small random model "refined" that
clipseg.py makes, give for pictures of several kinds and words: the mask at the picture's own size, its score and its regions; and
how surely a small random CLIP, saved in OUT/clip, sees the words: the softmax of "a photo of a WORD" for each beside "a photo".

    python tools/pyref/clipseg_stage.py gomlxmodels/clipseg/testdata/refined gomlxmodels/stage/segment/testdata

Versions: torch 2.15.0, transformers 5.23.0, Pillow 13.0.0, pycocotools 2.0.11, scipy 1.17.1, Python 3.11+. Seed 20211218. Torch runs on one
thread in float32. Thresholds are chosen where no pixel's probability is near, so that masks must be equal pixel by pixel.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from clip import shake
from clipseg import tokenizer
from PIL import Image
from pycocotools import mask as coco
from scipy import ndimage
from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, CLIPProcessor, CLIPSegForImageSegmentation, CLIPSegProcessor

torch.set_num_threads(1)
SEED = 20211218
WORDS = [["cat"], ["घर", "a red umbrella"], ["x" * 300], ["dog", "cat", "dog"]]


def scene(kind, width, height, rng):
    y, x = np.mgrid[0:height, 0:width]
    waves = [127 + 120 * np.sin(x / (3 + 5 * rng.random()) + y / (3 + 5 * rng.random())) for _ in range(4)]
    a = np.stack(waves, -1).astype(np.uint8)
    return Image.fromarray({"rgb": a[..., :3], "alpha": a, "grey": a[..., 0]}[kind])


def logits(model, processor, image, names):
    with torch.inference_mode():
        inputs = processor(text=names, images=[image] * len(names), padding=True, truncation=True, max_length=40, return_tensors="pt")
        out = model(**inputs).logits.reshape(len(names), 1, 48 // 8 * 4, -1)
        large = torch.nn.functional.interpolate(out, (image.height, image.width), mode="bilinear", align_corners=False)
    return large[:, 0].amax(0).double().numpy()


def clear(values, low, high):
    """The middle of the widest gap between probabilities from low to high."""
    p = np.sort(1 / (1 + np.exp(-values.ravel())))
    p = np.concatenate([[low], p[(p > low) & (p < high)], [high]])
    at = np.diff(p).argmax()
    return float((p[at] + p[at + 1]) / 2)


def judge(folder):
    small = dict(hidden_size=24, intermediate_size=32, num_hidden_layers=1, num_attention_heads=2)
    config = CLIPConfig(text_config=dict(small, vocab_size=514, max_position_embeddings=48, bos_token_id=512, eos_token_id=513, pad_token_id=513),
                        vision_config=dict(small, image_size=32, patch_size=8), projection_dim=16)
    model = shake(CLIPModel(config), torch.Generator().manual_seed(SEED))
    processor = CLIPProcessor(CLIPImageProcessor(size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}), tokenizer())
    model.save_pretrained(folder)
    processor.save_pretrained(folder)
    return model, processor


def presence(model, processor, image, names):
    texts = [f"a photo of a {n}" for n in dict.fromkeys(names)] + ["a photo"]
    with torch.inference_mode():
        p = model(**processor(text=texts, images=image, padding=True, truncation=True, max_length=48, return_tensors="pt")).logits_per_image.double().softmax(-1)
    return float(1 - p[0, -1])


def main(folder, out):
    out = pathlib.Path(out)
    out.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(SEED)
    model, processor = CLIPSegForImageSegmentation.from_pretrained(folder).eval(), CLIPSegProcessor.from_pretrained(folder)
    clip = judge(out / "clip")
    cases = []
    for (kind, width, height), names in zip([("rgb", 61, 40), ("alpha", 33, 70), ("grey", 48, 48), ("rgb", 20, 130)], WORDS):
        image = scene(kind, width, height, rng)
        file = f"{kind}-{width}x{height}.png"
        image.save(out / file)
        seen = presence(*clip, image.convert("RGB"), names)
        for low, high in ((0.2, 0.4), (0.45, 0.55), (0.6, 0.9)):
            v = logits(model, processor, image.convert("RGB"), [f"a photo of a {n}" for n in names])
            threshold = clear(v, low, high)
            p = 1 / (1 + np.exp(-v))
            m = p >= threshold
            label, count = ndimage.label(m, np.ones((3, 3)))
            sizes = sorted(ndimage.sum(m, label, range(1, count + 1)).astype(int).tolist(), reverse=True)
            rle = coco.encode(np.asfortranarray(m.astype(np.uint8)))
            cases.append({"image": file, "object": "|".join(names), "threshold": threshold, "mask": rle["counts"].decode(), "size": [height, width],
                          "score": float(p[m].mean()), "area": float(m.mean()), "regions": sizes, "presence": seen})
            print(file, names[0][:10], threshold, m.mean(), sizes, seen)
    (out / "expected.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False))


if __name__ == "__main__":
    main(*sys.argv[1:])

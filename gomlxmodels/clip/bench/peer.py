"""The other side of clip/bench: transformers' CLIPModel, ViT-B/32, random weights, saved for both sides.

    python peer.py DIR THREADS SEED PICTURES TEXTS

It writes DIR/config.json, DIR/model.safetensors, DIR/texts.json (token ids of 6 to 40 tokens, as captions have). Commands: "image BATCH", "text BATCH";
texts are sorted by length first, and a batch is as long as its longest text. The last vectors are left in DIR/image.f32 and DIR/text.f32.
"""

import json
import pathlib
import sys
import time

start = time.time()
import numpy as np
import torch
import transformers
from transformers import CLIPConfig, CLIPModel

root, threads, seed, pictures, texts = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])
torch.set_num_threads(threads)
torch.manual_seed(seed)
rng = np.random.default_rng(seed)
config = CLIPConfig(text_config=dict(eos_token_id=49407, bos_token_id=49406, pad_token_id=49407))
model = CLIPModel(config).eval()
with torch.no_grad():
    for p in model.parameters():
        if p.dim() > 1:
            p.normal_(0, 0.03)
model.save_pretrained(root)
pixels = rng.standard_normal((pictures, 3, 224, 224), np.float32)
pixels.tofile(root / "pixels.f32")
ids = [[49406, *map(int, rng.integers(1000, 49000, n)), 49407] for n in np.minimum(4 + rng.geometric(0.09, texts), 40)]
(root / "texts.json").write_text(json.dumps(ids))
order = sorted(range(texts), key=lambda i: len(ids[i]))


def vectors(out):
    return getattr(out, "pooler_output", out).numpy()


def image(batch):
    return np.concatenate([vectors(model.get_image_features(pixel_values=torch.from_numpy(pixels[i : i + batch]))) for i in range(0, pictures, batch)])


def text(batch):
    out = np.empty((texts, config.projection_dim), np.float32)
    for i in range(0, texts, batch):
        rows = order[i : i + batch]
        n = max(len(ids[r]) for r in rows)
        padded = torch.tensor([ids[r] + [49407] * (n - len(ids[r])) for r in rows])
        mask = torch.tensor([[1] * len(ids[r]) + [0] * (n - len(ids[r])) for r in rows])
        out[rows] = vectors(model.get_text_features(input_ids=padded, attention_mask=mask))
    return out


print(json.dumps({"seconds": time.time() - start, "name": f"transformers {transformers.__version__} on torch {torch.__version__}"}), flush=True)
with torch.inference_mode():
    for line in sys.stdin:
        what, batch = line.split()
        begin = time.perf_counter()
        result = {"image": image, "text": text}[what](int(batch))
        seconds = time.perf_counter() - begin
        result.astype(np.float32).tofile(root / f"{what}.f32")
        print(json.dumps({"seconds": seconds}), flush=True)

"""transformers' CLIPModel, ViT-B/32, random weights. Arguments: the numbers of images and of texts, and what computes those of
images: transformers, or openvino, openvino-bfloat16 or onnxruntime.

It writes the model, pixels.f32 and texts.json (token ids of 6 to 40 tokens, as captions have). Commands: `image BATCH`, `text BATCH`; texts are sorted
by length first, and a batch is as long as its longest text.
"""

import functools
import json

import numpy as np
import torch
import transformers
from transformers import CLIPConfig, CLIPModel

from peer import arguments, exported, folder, seed, serve, threads

images, texts, mode = int(arguments[0]), int(arguments[1]), arguments[2]
torch.set_num_threads(threads)
torch.manual_seed(seed)
rng = np.random.default_rng(seed)
config = CLIPConfig(text_config=dict(eos_token_id=49407, bos_token_id=49406, pad_token_id=49407))
model = CLIPModel(config).eval()
with torch.no_grad():
    for p in model.parameters():
        if p.dim() > 1:
            p.normal_(0, 0.03)
model.save_pretrained(folder)
pixels = rng.standard_normal((images, 3, 224, 224), np.float32)
pixels.tofile(folder / "pixels.f32")
ids = [[49406, *map(int, rng.integers(1000, 49000, n)), 49407] for n in np.minimum(4 + rng.geometric(0.09, texts), 40)]
(folder / "texts.json").write_text(json.dumps(ids))
order = sorted(range(texts), key=lambda i: len(ids[i]))


def vectors(out):
    return getattr(out, "pooler_output", out)


class Images(torch.nn.Module):
    """The tower of images as a module, which can be exported."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, x):
        return vectors(self.model.get_image_features(pixel_values=x))


@functools.cache
def tower(batch):
    """The tower of images as a function."""
    return Images() if mode == "transformers" else exported(mode, Images(), (torch.zeros(batch, 3, 224, 224),))


def image(batch):
    of = tower(min(batch, images))
    return np.concatenate([of(torch.from_numpy(pixels[i : i + batch])).numpy() for i in range(0, images, batch)])


def text(batch):
    out = np.empty((texts, config.projection_dim), np.float32)
    for i in range(0, texts, batch):
        rows = order[i : i + batch]
        n = max(len(ids[r]) for r in rows)
        padded = torch.tensor([ids[r] + [49407] * (n - len(ids[r])) for r in rows])
        mask = torch.tensor([[1] * len(ids[r]) + [0] * (n - len(ids[r])) for r in rows])
        out[rows] = vectors(model.get_text_features(input_ids=padded, attention_mask=mask)).numpy()
    return out


@torch.inference_mode()
def run(tower, batch):
    return {"image": image, "text": text}[tower](int(batch))


serve(("" if mode == "transformers" else mode + " with ") + f"transformers {transformers.__version__}, torch {torch.__version__}", run)

"""timm's loader (Pillow, torchvision's transforms) and a random vit_tiny_patch16_224 of two blocks. Arguments: images of a run, runs, their size.

Makes JPEG files in the folders 0, 1, 2, …, one for each run, and the model's folder. Command `run FOLDER WORKERS`: loads, transforms and embeds
the images of a folder, with this many processes of the loader next to the one that embeds.
"""

import pathlib

import numpy as np
import timm
import torch
from PIL import Image
from timm.data import create_transform, resolve_model_data_config
from torch.utils.data import DataLoader, Dataset

from peer import arguments, folder, seed, serve, threads

count, runs, width, height = map(int, arguments)
torch.set_num_threads(threads)
torch.manual_seed(seed)
args = dict(depth=2)
model = timm.create_model("vit_tiny_patch16_224", pretrained=False, num_classes=0, **args).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.ndim == 2:
            p.normal_(0, p.shape[1] ** -0.5)
timm.models.save_for_hf(model, folder / "model", model_args=args, safe_serialization=True)

r = np.random.default_rng(seed)
base = np.zeros((2 * height, 2 * width), np.float32)
for k in range(9):
    layer = Image.fromarray(r.normal(0, 1, (max(1, 2 * height >> k), max(1, 2 * width >> k))).astype(np.float32))
    base += np.asarray(layer.resize((2 * width, 2 * height), Image.Resampling.BICUBIC)) * 2.2 * 1.6**k
for run in range(runs):
    (folder / str(run)).mkdir()
    for i in range(count):
        x, y = r.integers(width), r.integers(height)
        light = base[y : y + height, x : x + width, None] * r.uniform(0.6, 1.2, 3)
        image = Image.fromarray(np.clip(127 + light, 0, 255).astype(np.uint8))
        image.save(folder / str(run) / f"{i:04d}.jpg", quality=90)


class Files(Dataset):
    def __init__(self, folder, transform):
        self.paths, self.transform = sorted(pathlib.Path(folder).glob("*.jpg")), transform

    def __len__(self):
        return len(self.paths)

    def __getitem__(self, i):
        with Image.open(self.paths[i]) as image:
            return self.transform(image.convert("RGB"))


transform = create_transform(**resolve_model_data_config(model), is_training=False)


@torch.inference_mode()
def run(_, name, workers):
    loader = DataLoader(Files(folder / name, transform), batch_size=16, num_workers=int(workers))
    return torch.cat([model(x) for x in loader])


serve(f"timm {timm.__version__}, torch {torch.__version__}, Pillow {Image.__version__}", run)

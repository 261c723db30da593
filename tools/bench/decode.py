"""Pillow and torchvision on the same JPEG files, which this program makes: one for each argument "WIDTHxHEIGHT KIND N".

Commands `pillow` and `torchvision`: the parts are decoding of each file, N times, and bicubic resizing of the fifth to 224×224.
"""

import io
import time

import numpy as np
import PIL
import torch
import torchvision
from PIL import Image
from torchvision.transforms.v2 import functional as F

from peer import arguments, folder, seed, serve

torch.set_num_threads(1)


def scene(width=1024, height=768):
    """Noise of all scales, as much of each as photographs have."""
    r = np.random.default_rng(seed)
    out = np.zeros((height, width, 3), np.float32)
    for k in range(9):
        side = max(1, width >> k), max(1, height >> k)
        layer = Image.fromarray(r.normal(0, 1, (side[1], side[0])).astype(np.float32))
        colors = [np.asarray(layer.resize((width, height), Image.Resampling.BICUBIC))]
        for _ in range(2):  # colors vary less than light
            other = Image.fromarray(r.normal(0, 1, (side[1], side[0])).astype(np.float32))
            colors.append(colors[0] + 0.3 * np.asarray(other.resize((width, height), Image.Resampling.BICUBIC)))
        out += np.stack(colors, -1) * 2.2 * 1.6**k
    return np.tile(np.clip(127 + out, 0, 255).astype(np.uint8), (4, 4, 1))


pixels, files, counts = scene(), [], []
for argument in arguments:
    size, kind, n = argument.split()
    width, height = map(int, size.split("x"))
    options = {"progressive": True, "subsampling": "4:2:0"} if kind == "progressive" else {"subsampling": kind}
    file = io.BytesIO()
    Image.fromarray(pixels[:height, :width]).save(file, "JPEG", quality=90, **options)
    (folder / f"{len(files)}.jpg").write_bytes(file.getvalue())
    files.append(file.getvalue())
    counts.append(int(n))


def pillow(data):
    return Image.open(io.BytesIO(data)).convert("RGB")


def tensor(data):
    return torchvision.io.decode_jpeg(torch.frombuffer(bytearray(data), dtype=torch.uint8), torchvision.io.ImageReadMode.RGB)


def run(library):
    decode = {"pillow": pillow, "torchvision": tensor}[library]
    seconds, arrays = [], []
    for data, n in zip(files, counts):
        begin = time.perf_counter()
        for _ in range(n):
            image = decode(data)
        seconds.append(time.perf_counter() - begin)
        arrays.append(image)
    image = arrays[4]
    begin = time.perf_counter()
    for _ in range(counts[4]):
        if library == "pillow":
            small = image.resize((224, 224), Image.Resampling.BICUBIC)
        else:
            small = F.resize(image, [224, 224], F.InterpolationMode.BICUBIC, antialias=True)
    seconds.append(time.perf_counter() - begin)
    if library == "torchvision":  # its decoder is another build of libjpeg-turbo; its resizing has 16 bits
        return {"seconds": seconds}
    return {"seconds": seconds, "array": np.concatenate([np.asarray(a).ravel() for a in [*arrays, small] if a.width <= 1024])}


serve(f"Pillow {PIL.__version__}, torchvision {torchvision.__version__}", run)

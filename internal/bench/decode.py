"""Pillow on the same JPEG file. Argument: the number of images. Command `run`: the parts are decoding and bicubic resizing to 224×224."""

import io
import time

import numpy as np
import PIL
from PIL import Image

from peer import arguments, folder, serve

n = int(arguments[0])
data = (folder / "image.jpg").read_bytes()


def run(_):
    begin = time.perf_counter()
    for _ in range(n):
        image = Image.open(io.BytesIO(data)).convert("RGB")
    middle = time.perf_counter()
    for _ in range(n):
        small = image.resize((224, 224), Image.Resampling.BICUBIC)
    return {"seconds": [middle - begin, time.perf_counter() - middle], "array": np.asarray(small)}


serve(f"Pillow {PIL.__version__}", run)

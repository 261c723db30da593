#!/usr/bin/env python3
"""JPEG files and the pixels that Pillow decodes them to, for internal/jpeg.

    python tools/pyref/jpeg.py internal/jpeg/testdata        the goldens
    python tools/pyref/jpeg.py FOLDER N SEED                 N random files

Of each NAME.jpg, pixels.txt has a line: name, width, height, SHA-256 of the RGB bytes, what it is. Random files also have the bytes,
NAME.rgb. Pillow saves no 4:4:0, 4:1:1 or YCCK and no other order of blocks: those are made by changing the header of a file, which
keeps its blocks and gives them another meaning. Versions: Pillow 13.0.0 with libjpeg-turbo 3.2.0, numpy. Seed 1.
"""

import hashlib
import io
import math
import pathlib
import random
import sys

import numpy as np
from PIL import Image


def content(r, w, h, channels, kind):
    g = np.random.default_rng(r.randrange(1 << 30))
    y, x = np.mgrid[0:h, 0:w]
    if kind == "noise":
        a = g.integers(0, 256, (h, w, channels))
    elif kind == "edges":
        a = 255 * g.integers(0, 2, (h, w, channels))
    elif kind == "flat":
        a = np.broadcast_to(g.integers(0, 256, (1, 1, channels)), (h, w, channels))
    else:
        noise = 0 if kind == "smooth" else g.uniform(2, 60)
        waves = [g.uniform(0, 0.3, 3) for _ in range(channels)]
        a = np.stack([127 + 120 * np.sin(a * x + b * y + 20 * c) + g.normal(0, noise, (h, w)) for a, b, c in waves], -1)
    a = np.clip(a, 0, 255).astype(np.uint8)
    return Image.fromarray(a[..., 0] if channels == 1 else a, {1: "L", 3: "RGB", 4: "CMYK"}[channels])


def encode(image, **options):
    f = io.BytesIO()
    image.save(f, "JPEG", **options)
    return f.getvalue()


def segments(data):
    """Offsets of the markers up to the first scan."""
    at = 2
    while True:
        yield data[at + 1], at
        if data[at + 1] == 0xDA:
            return
        at += 2 + int.from_bytes(data[at + 2 : at + 4], "big")


def resampled(data, factors, cut):
    """The file with other sampling factors of luma: as many blocks, in MCUs of another shape. cut is what the last MCU lacks."""
    data = bytearray(data)
    at = next(at for m, at in segments(data) if m in (0xC0, 0xC1, 0xC2))
    h, w = int.from_bytes(data[at + 5 : at + 7], "big"), int.from_bytes(data[at + 7 : at + 9], "big")
    old = data[at + 11]
    mcus = [math.ceil(w / (8 * (old >> 4))), math.ceil(h / (8 * (old & 15)))]
    w, h = (max(1, 8 * f * n - c) for f, n, c in zip((factors >> 4, factors & 15), mcus, cut))
    data[at + 5 : at + 9] = h.to_bytes(2, "big") + w.to_bytes(2, "big")
    data[at + 11] = factors
    return bytes(data)


def adobe(data, transform):
    """The file with this transform in its Adobe marker, or without the marker (None). JFIF's marker is removed."""
    out, last = bytearray(data[:2]), 0
    if transform is not None:
        out += b"\xff\xee\x00\x0eAdobe\x00\x64\x00\x00\x00\x00" + bytes([transform])
    for m, at in segments(data):
        end = at + 2 + int.from_bytes(data[at + 2 : at + 4], "big") if m != 0xDA else len(data)
        if m not in (0xE0, 0xEE):
            out += data[at:end]
    return bytes(out)


def goldens(r):
    def base(channels=3, size=(37, 29), kind="soft"):
        return content(r, *size, channels, kind)

    yield "444", encode(base(), quality=80, subsampling=0)
    yield "422", encode(base(), quality=80, subsampling=1)
    yield "420", encode(base(), quality=80, subsampling=2)
    yield "420-even", encode(base(size=(64, 48)), quality=60, subsampling=2)
    yield "440", resampled(encode(base(size=(16, 43)), quality=80, subsampling=1), 0x12, (3, 0))
    yield "411", resampled(encode(base(), quality=80, subsampling=2), 0x41, (5, 3))
    yield "114", resampled(encode(base(), quality=80, subsampling=2), 0x14, (2, 7))
    yield "gray", encode(base(1), quality=80)
    yield "cmyk", encode(base(4, (19, 13)), quality=80)
    yield "cmyk-plain", adobe(encode(base(4, (19, 13)), quality=80), None)
    yield "ycck", adobe(encode(base(4, (19, 13)), quality=80), 2)
    yield "rgb", adobe(encode(base(), quality=80, subsampling=0), 0)
    yield "no-marker", adobe(encode(base(), quality=80, subsampling=0), None)
    yield "kept-rgb", encode(base(), quality=80, keep_rgb=True)
    for w, h in ((1, 1), (2, 2), (3, 3), (4, 1), (5, 17)):
        yield f"small-{w}x{h}", encode(base(size=(w, h)), quality=80, subsampling=2)
    yield "small-422", encode(base(size=(4, 3)), quality=80, subsampling=1)
    yield "progressive", encode(base(), quality=80, subsampling=2, progressive=True)
    yield "progressive-444", encode(base(), quality=80, subsampling=0, progressive=True, restart_marker_blocks=2)
    yield "progressive-cmyk", encode(base(4, (19, 13)), quality=80, progressive=True)
    yield "progressive-gray", encode(base(1), quality=80, progressive=True)
    yield "restarts", encode(base(), quality=80, subsampling=2, restart_marker_blocks=1)
    yield "optimized", encode(base(kind="noise"), quality=95, subsampling=1, optimize=True)
    yield "coarse", encode(base(kind="edges"), quality=1, subsampling=2)
    yield "deep-tables", encode(base(), qtables=[[300 + 40 * i for i in range(64)]] * 2, subsampling=2)


def sample(r, photographs):
    w, h = r.choice([(r.randint(1, 9), r.randint(1, 9)), (r.randint(1, 60), r.randint(1, 60)), (r.randint(1, 400), r.randint(1, 400))])
    channels = r.choice([3, 3, 3, 3, 3, 3, 1, 4])
    kind = r.choice(["noise", "smooth", "soft", "soft", "edges", "flat", "photograph"])
    if kind == "photograph" and photographs:
        p = r.choice(photographs)
        x, y = r.randrange(p.width - w), r.randrange(p.height - h)
        image = p.crop((x, y, x + w, y + h)).convert({1: "L", 3: "RGB", 4: "CMYK"}[channels])
    else:
        image = content(r, w, h, channels, kind)
    options = {"quality": r.choice([r.randint(1, 100), 75, 90, 95])}
    if channels > 1:
        options["subsampling"] = r.choice([0, 1, 2])
    options["progressive"] = r.random() < 0.35
    options["optimize"] = r.random() < 0.3
    if r.random() < 0.3:
        options["restart_marker_blocks"] = r.randint(1, 30)
    elif r.random() < 0.1:
        options["restart_marker_rows"] = r.randint(1, 3)
    if channels == 3 and r.random() < 0.05:
        options.update(keep_rgb=True, subsampling=0)
    about = f"{kind} {channels} channels {w}×{h} {options}"
    if r.random() < 0.1:
        del options["quality"]
        most = r.choice([255, 255, 65535])
        options["qtables"] = [[r.randint(1, most) for _ in range(64)] for _ in range(r.randint(1, 2))]
        about += f" tables up to {most}"
    change = r.random() if channels == 3 and not options.get("keep_rgb") else 1
    factors = {1: [0x12], 2: [0x41, 0x14]}.get(options.get("subsampling"))
    if change < 0.25 and factors:
        unit = {1: (16, 8), 2: (16, 16)}[options["subsampling"]]
        cut = [r.randrange(8), r.randrange(8)]
        if options["progressive"]:  # scans of one component have no blocks outside of the image
            image, cut = image.resize((math.ceil(w / unit[0]) * unit[0], math.ceil(h / unit[1]) * unit[1])), (0, 0)
        f = r.choice(factors)
        return resampled(encode(image, **options), f, cut), about + f" sampling {f:#x}"
    data = encode(image, **options)
    if channels > 1 and change > 0.9:
        transform = r.choice([None, 0, 1, 2] if channels == 3 else [None, 0, 2])
        data, about = adobe(data, transform), about + f" Adobe {transform}"
    return data, about


def saved(r, photographs):
    while True:
        try:
            return sample(r, photographs)
        except OSError:  # libjpeg does not encode some content with some tables
            pass


def main(folder, n=0, seed=1):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    r = random.Random(seed)
    files = [(name, data, name) for name, data in goldens(r)] if n == 0 else []
    if n:
        try:
            from sklearn.datasets import load_sample_image

            photographs = [Image.fromarray(load_sample_image(f)) for f in ("china.jpg", "flower.jpg")]
        except ImportError:
            photographs = []
        files = ((f"{i:05d}", *saved(r, photographs)) for i in range(n))
    with open(folder / "pixels.txt", "w") as lines:
        for name, data, about in files:
            pixels = Image.open(io.BytesIO(data)).convert("RGB")
            rgb = np.asarray(pixels).tobytes()
            (folder / f"{name}.jpg").write_bytes(data)
            if n:
                (folder / f"{name}.rgb").write_bytes(rgb)
            print(name, *pixels.size, hashlib.sha256(rgb).hexdigest(), about, file=lines)


if __name__ == "__main__":
    main(sys.argv[1], *map(int, sys.argv[2:]))

#!/usr/bin/env python3
"""Goldens for gomlxmodels/preprocess: small pictures in many file kinds with what Pillow makes of them, resized pictures,
and the numbers transformers' and timm's preprocessing give.

    python tools/pyref/preprocess.py gomlxmodels/preprocess/testdata

Versions: Pillow 13.0.0, torch 2.15.0, torchvision 0.29.2, transformers 5.24.0, timm 1.0.31, numpy. Seed 7.
"""

import json
import pathlib
import shutil
import sys

import numpy as np
import torch
from PIL import Image, ImageFilter, ImageOps
from safetensors.torch import save_file
from timm.data import create_transform
from transformers import CLIPImageProcessor, Owlv2ImageProcessor, SamImageProcessor, ViTImageProcessor
from transformers.models.sam.image_processing_pil_sam import SamImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

SEED = 7


def picture(w, h, seed=SEED):
    """Soft colours with hard edges and a little noise: what resampling finds hard."""
    r = np.random.default_rng(seed)
    y, x = np.mgrid[0:h, 0:w]
    a = np.stack([127 + 120 * np.sin(x / 5 + y / 9), 127 + 120 * np.cos(y / 4 - x / 11), 255 * ((x // 6 + y // 7) % 2)], -1)
    a[h // 4 : h // 2, w // 3 : 2 * w // 3] = [250, 10, 20]
    return Image.fromarray(np.clip(a + r.normal(0, 12, a.shape), 0, 255).astype(np.uint8))


def decode(root):
    """files/NAME and files/NAME.png: the same picture as Pillow reads it, upright and converted to RGB."""
    folder = root / "files"
    folder.mkdir(parents=True)
    base = picture(37, 26)
    soft = base.filter(ImageFilter.GaussianBlur(1.2))
    r = np.random.default_rng(SEED + 1)
    alpha = Image.fromarray(r.integers(0, 256, (26, 37), dtype=np.uint8))
    deep = (np.asarray(base).astype(np.uint16) << 8) | r.integers(0, 256, (26, 37, 3), dtype=np.uint16)

    base.save(folder / "rgb.png")
    base.convert("L").save(folder / "grey.png")
    base.convert("1").save(folder / "one-bit.png")
    Image.merge("LA", (base.convert("L"), alpha)).save(folder / "grey-alpha.png")
    Image.merge("RGBA", (*base.split(), alpha)).save(folder / "alpha.png")
    base.quantize(16).save(folder / "palette.png")
    base.quantize(16).save(folder / "palette-clear.png", transparency=3)
    Image.fromarray(deep[..., 0]).save(folder / "grey16.png")
    png16(folder / "rgb16.png", deep)
    for o in range(1, 9):
        exif = Image.Exif()
        exif[0x0112] = o
        soft.resize((11, 7)).save(folder / f"turned-{o}.jpg", exif=exif, quality=95, subsampling=0)
    exif = Image.Exif()
    exif[0x0112] = 6
    base.save(folder / "turned.png", exif=exif)
    soft.save(folder / "turned.webp", exif=exif, lossless=True)
    for name, kw in {"444": dict(subsampling=0), "422": dict(subsampling=1), "420": dict(subsampling=2), "progressive": dict(subsampling=2, progressive=True)}.items():
        soft.save(folder / f"jpeg-{name}.jpg", quality=90, **kw)
    soft.convert("L").save(folder / "grey.jpg", quality=90)
    soft.convert("CMYK").save(folder / "cmyk.jpg", quality=95)
    soft.resize((3, 5)).save(folder / "narrow.jpg", quality=95, subsampling=2)
    soft.resize((1, 1)).save(folder / "single.jpg", quality=95, subsampling=2)
    base.quantize(32).save(folder / "palette.gif")
    base.quantize(8).save(folder / "moving.gif", save_all=True, append_images=[soft.quantize(8)], duration=100)
    soft.save(folder / "lossy.webp", quality=80)
    base.save(folder / "lossless.webp", lossless=True)
    Image.merge("RGBA", (*soft.split(), alpha)).save(folder / "alpha.webp", quality=80)
    for name, kw in {"plain": {}, "lzw": dict(compression="tiff_lzw"), "deflate": dict(compression="tiff_adobe_deflate"), "packbits": dict(compression="packbits")}.items():
        base.save(folder / f"{name}.tif", **kw)
    base.convert("L").save(folder / "grey.tif")
    base.quantize(16).save(folder / "palette.tif")
    Image.merge("RGBA", (*base.split(), alpha)).save(folder / "alpha.tif")
    base.save(folder / "turned.tif", tiffinfo={0x0112: 6})
    base.save(folder / "pages.tiff", save_all=True, append_images=[soft])
    base.save(folder / "rgb.bmp")
    base.convert("L").save(folder / "grey.bmp")
    base.quantize(16).save(folder / "palette.bmp")
    Image.merge("RGBA", (*base.split(), alpha)).save(folder / "alpha.bmp")

    for path in sorted(folder.iterdir()):
        with Image.open(path) as im:
            im.load()
            up = ImageOps.exif_transpose(im)
            if up.mode.startswith("I;16"):  # Pillow cuts these off at 255; the high byte is what a 16-bit colour picture gives
                up = Image.fromarray((np.asarray(up) >> 8).astype(np.uint8))
            Image.fromarray(np.asarray(up.convert("RGB"))).save(folder / (path.name + ".png"))


def png16(path, a):
    """A 16-bit RGB PNG, which Pillow cannot write."""
    import struct
    import zlib

    h, w, _ = a.shape
    raw = b"".join(b"\0" + row.astype(">u2").tobytes() for row in a)

    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))

    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, 16, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(raw)) + chunk(b"IEND", b""))


def resize(root):
    """resize/source.png and resize/FILTER-WxH.png."""
    folder = root / "resize"
    folder.mkdir()
    src = picture(61, 47)
    src.save(folder / "source.png")
    for name, f in {"nearest": 0, "lanczos": 1, "bilinear": 2, "bicubic": 3, "box": 4, "hamming": 5}.items():
        for w, h in [(20, 20), (61, 10), (97, 47), (100, 90), (1, 1), (58, 13), (59, 43)]:
            src.resize((w, h), f).save(folder / f"{name}-{w}x{h}.png")


def pipelines(root):
    """pipelines/*.json: a configuration file; *.safetensors: "WxH" = what it makes of pictures/WxH.png."""
    folder = root / "pipelines"
    folder.mkdir()
    pictures = {f"{w}x{h}": picture(w, h) for w, h in [(53, 40), (40, 71), (24, 24), (17, 90), (33, 32)]}
    (root / "pictures").mkdir()
    for name, p in pictures.items():
        p.save(root / "pictures" / f"{name}.png")

    def keep(name, config, f):
        (folder / f"{name}.json").write_text(json.dumps(config, indent=1))
        save_file({n: f(p).float().contiguous() for n, p in pictures.items()}, folder / f"{name}.safetensors")

    half, mean, std = [0.5] * 3, [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
    hf = {
        "hf-stretch": dict(size={"height": 24, "width": 24}),
        "hf-bicubic": dict(size={"height": 24, "width": 32}, resample=3, image_mean=mean, image_std=std),
        "hf-shortest-crop": dict(size={"shortest_edge": 28}, do_center_crop=True, crop_size={"height": 24, "width": 24}, resample=3),
        "hf-pad": dict(size={"shortest_edge": 20}, do_center_crop=True, crop_size={"height": 25, "width": 25}),
        "hf-lanczos": dict(size={"height": 24, "width": 32}, resample=1),
        "hf-plain": dict(size={"height": 24, "width": 24}, do_rescale=False, do_normalize=False),
    }
    for name, kw in hf.items():
        slow, fast = ViTImageProcessorPil(**kw), ViTImageProcessor(**kw)
        config = json.loads(slow.to_json_string())
        keep(name, config, lambda p: slow(p, return_tensors="pt").pixel_values[0])
        keep(name + "-torchvision", config, lambda p: fast(p, return_tensors="pt").pixel_values[0])
    # CLIP's of older folders: an integer is the shortest edge, what is missing is the class's
    config = dict(feature_extractor_type="CLIPFeatureExtractor", size=28, crop_size=24)
    fast = CLIPImageProcessor(size=28, crop_size=24)
    keep("hf-clip-torchvision", config, lambda p: fast(p, return_tensors="pt").pixel_values[0])
    # SAM's: the longer side to a size, then zeros right and below; oblong, so that both directions are padded
    kw = dict(size={"longest_edge": 30}, pad_size={"height": 32, "width": 36})
    slow, fast = SamImageProcessorPil(**kw), SamImageProcessor(**kw)
    keep("hf-longest-pad", json.loads(slow.to_json_string()), lambda p: torch.as_tensor(slow(p, return_tensors="pt").pixel_values[0]))
    keep("hf-longest-pad-torchvision", json.loads(fast.to_json_string()), lambda p: fast(p, return_tensors="pt").pixel_values[0])
    # OWLv2's: padded to a square, blurred where it shrinks; another factor downwards than across
    fast = Owlv2ImageProcessor(size={"height": 24, "width": 20})
    keep("hf-pad-square-torchvision", json.loads(fast.to_json_string()), lambda p: fast(p, return_tensors="pt").pixel_values[0])
    timm = {
        "timm-bicubic-09": dict(input_size=[3, 24, 24], interpolation="bicubic", crop_pct=0.9, crop_mode="center", mean=half, std=half),
        "timm-bilinear-0875": dict(input_size=[3, 25, 25], interpolation="bilinear", crop_pct=0.875, mean=mean, std=std),
        "timm-whole": dict(input_size=[3, 24, 24], interpolation="bicubic", crop_pct=1.0, mean=half, std=half),
        "timm-squash": dict(input_size=[3, 24, 24], interpolation="bicubic", crop_pct=0.95, crop_mode="squash", mean=half, std=half),
        "timm-oblong": dict(input_size=[3, 20, 30], interpolation="bicubic", crop_pct=0.9, crop_mode="center", mean=half, std=half),
        "timm-lanczos": dict(input_size=[3, 24, 24], interpolation="lanczos", crop_pct=0.9, mean=half, std=half),
    }
    for name, kw in timm.items():
        t = create_transform(is_training=False, **kw)
        keep(name, {"architecture": "vit_tiny_patch16_224", "pretrained_cfg": kw}, lambda p: t(p))


def main(root):
    root = pathlib.Path(root)
    for name in ("files", "resize", "pipelines", "pictures"):
        shutil.rmtree(root / name, ignore_errors=True)
    root.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(SEED)
    decode(root)
    resize(root)
    pipelines(root)
    print(sum(p.stat().st_size for p in root.rglob("*") if p.is_file()), "bytes")


if __name__ == "__main__":
    main(sys.argv[1])

"""Makes image files and mask files of many formats, with what Pillow reads in them.

    python tools/pyref/formats.py FOLDER

list.json names the files: with the pixels that the project reads, from Pillow's (NAME.raw: RGB turned upright, or a byte
for each pixel of a mask), or with the reason why the file is refused or read otherwise. Made with Python 3, Pillow 13.0.0,
numpy and tifffile.
"""

import io
import json
import struct
import sys
import zlib

import numpy as np
import tifffile
from PIL import Image, ImageOps, PngImagePlugin

W, H = 509, 383  # odd sizes
folder = sys.argv[1]
listed = []
yy, xx = np.mgrid[0:H, 0:W]
base = np.stack([xx * 255 // W, yy * 255 // H, (xx * 3 + yy * 7) % 256], -1).astype(np.uint8)
base[100:200, 50:250] = [200, 60, 40]
alpha = np.where((xx // 32 + yy // 32) % 2, 255, (xx % 256)).astype(np.uint8)
rgb = Image.fromarray(base)
gray, one, palette, cmyk = rgb.convert("L"), rgb.convert("1"), rgb.convert("P"), rgb.convert("CMYK")
rgba = Image.fromarray(np.dstack([base, alpha]))
gray16 = (np.asarray(gray).astype(np.uint16) << 8) + 77
rgb16 = (base.astype(np.uint16) << 8) + 77


def note(name, kind, pixels, refused=""):
    if pixels is not None:
        open(f"{folder}/{name}.raw", "wb").write(np.ascontiguousarray(pixels, np.uint8).tobytes())
    size = list(pixels.shape[1::-1]) if pixels is not None else None
    listed.append(dict(name=name, kind=kind, size=size, refused=refused))


def image(name, data, refused="", want=None):
    """data are the file's bytes, or an image with the arguments of its save."""
    if not isinstance(data, bytes):
        im, options = data
        b = io.BytesIO()
        im.save(b, **options)
        data = b.getvalue()
    open(f"{folder}/{name}", "wb").write(data)
    if not refused and want is None:
        want = np.asarray(ImageOps.exif_transpose(Image.open(io.BytesIO(data))).convert("RGB"))
    note(name, "image", want, refused)


def png(width, bits, color, rows, interlaced=0, chunks=b""):
    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", width, H, bits, color, 0, 0, interlaced)) +
            chunks + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def filtered(rows):
    return b"".join(b"\0" + r.tobytes() for r in rows)


def packed(values, bits):
    return [np.packbits(np.unpackbits(r[:, None], axis=1)[:, 8 - bits:].ravel()) for r in values]


def exif(n):
    e = Image.Exif()
    e[0x112] = n
    return e


def tiff(a, **options):
    b = io.BytesIO()
    tifffile.imwrite(b, a, **options)
    return b.getvalue()


P = dict(format="PNG")
for name, im in dict(one=one, gray=gray, palette=palette, rgb=rgb, rgba=rgba, la=rgba.convert("LA")).items():
    image(f"{name}.png", (im, P))
for bits in 1, 2, 4:
    small = rgb.quantize(2**bits)
    image(f"palette{bits}.png", (small, dict(P, bits=bits)))
for bits in 2, 4:
    levels = np.asarray(gray) >> (8 - bits)
    image(f"gray{bits}.png", png(W, bits, 0, filtered(packed(levels, bits))),
          want=np.dstack([levels * (255 // (2**bits - 1))] * 3))
image("palette_clear.png", (palette, dict(P, transparency=7)))
image("gray_clear.png", (gray, dict(P, transparency=9)))
image("rgb_clear.png", (rgb, dict(P, transparency=(200, 60, 40))))
image("gray16.png", (Image.fromarray(gray16), P), want=np.dstack([gray16 >> 8] * 3))  # where Pillow clips to white
image("rgb16.png", png(W, 16, 2, filtered(rgb16.astype(">u2"))), want=rgb16 >> 8)
image("rgba16.png", png(W, 16, 6, filtered(np.dstack([rgb16, alpha.astype(np.uint16) << 8]).astype(">u2"))))
image("la16.png", png(W, 16, 4, filtered(np.dstack([gray16, gray16]).astype(">u2"))))
adam7 = [(0, 0, 8, 8), (4, 0, 8, 8), (0, 4, 4, 8), (2, 0, 4, 4), (0, 2, 2, 4), (1, 0, 2, 2), (0, 1, 1, 2)]
image("interlaced.png", png(W, 8, 2, b"".join(filtered(base[y::dy, x::dx]) for x, y, dx, dy in adam7), 1))
image("animated.png", (rgb, dict(P, save_all=True, append_images=[rgb.rotate(180)])))
image("turned.png", (rgb, dict(P, exif=exif(6))))
gamma = PngImagePlugin.PngInfo()
gamma.add(b"gAMA", struct.pack(">I", 100000))
image("gamma.png", (rgb, dict(P, pnginfo=gamma)))

J = dict(format="JPEG", quality=90)
for name, options in dict(q1=dict(quality=1), q100=dict(quality=100), s444=dict(subsampling=0), s422=dict(subsampling=1),
                          s420=dict(subsampling=2), progressive=dict(progressive=True), optimized=dict(optimize=True),
                          restart=dict(restart_marker_rows=2), rgb=dict(keep_rgb=True)).items():
    image(f"{name}.jpg", (rgb, J | options))
image("gray.jpg", (gray, J))
image("cmyk.jpg", (cmyk, J))
for n in range(1, 9):
    image(f"exif{n}.jpg", (rgb, dict(J, exif=exif(n))))
image("mpo.jpg", (rgb, dict(format="MPO", save_all=True, append_images=[rgb])))
b = io.BytesIO()
rgb.save(b, **J)
image("trailer.jpg", b.getvalue() + b"\0" * 999 + b"trailer")

for name, im, options in [("gray", gray, {}), ("palette", palette, {}), ("clear", palette, dict(transparency=3)),
                          ("interlaced", palette, dict(interlace=1)),
                          ("animated", palette, dict(save_all=True, append_images=[palette.rotate(180)]))]:
    image(f"{name}.gif", (im, dict(format="GIF", **options)))

for name, im, options in [("lossy", rgb, {}), ("lossless", rgb, dict(lossless=True)), ("turned", rgb, dict(exif=exif(8))),
                          ("alpha_lossless", rgba, dict(lossless=True, exact=True))]:
    image(f"{name}.webp", (im, dict(format="WEBP", **options)))
image("alpha.webp", (rgba, dict(format="WEBP", exact=True)))
image("animated.webp", (rgb, dict(format="WEBP", save_all=True, append_images=[rgb.rotate(180)])), "an animation")

T = dict(format="TIFF")
for name, im in dict(one=one, gray=gray, palette=palette, rgb=rgb, rgba=rgba).items():
    image(f"{name}.tif", (im, T))
for c in "tiff_lzw", "tiff_adobe_deflate", "tiff_deflate", "packbits":
    image(f"{c}.tif", (rgb, dict(T, compression=c)))
for c in "group3", "group4":
    for shown in 0, 1:
        image(f"{c}_{shown}.tif", (one, dict(T, compression=c, tiffinfo={262: shown})))
image("group3_2d.tif", (one, dict(T, compression="group3", tiffinfo={292: 1})), "ccitt")
image("ccitt.tif", (one, dict(T, compression="tiff_ccitt")), "compression value 2")
image("jpeg.tif", (rgb, dict(T, compression="jpeg")), "compression value 7")
image("zstd.tif", (rgb, dict(T, compression="zstd")), "compression value")
image("turned.tif", (rgb, dict(T, exif=exif(5))))
image("pages.tif", (rgb, dict(T, save_all=True, append_images=[rgb.rotate(180)])))
image("predictor.tif", (rgb, dict(T, compression="tiff_lzw", tiffinfo={317: 2})))
image("big_endian.tif", tiff(base, byteorder=">", photometric="rgb"))
image("tiles.tif", tiff(base, tile=(64, 64), photometric="rgb", compression="zlib"))
image("strips.tif", tiff(base, rowsperstrip=7, photometric="rgb"))
image("planes.tif", tiff(base.transpose(2, 0, 1), photometric="rgb", planarconfig="separate"), "color planes")
image("white_is_zero.tif", tiff(np.asarray(gray), photometric="miniswhite"))
image("gray16.tif", tiff(gray16, photometric="minisblack"), want=np.dstack([gray16 >> 8] * 3))
image("rgb16.tif", tiff(rgb16, photometric="rgb"), want=rgb16 >> 8)
image("float.tif", (Image.fromarray(np.asarray(gray).astype(np.float32)), T), "sample format")
image("cmyk.tif", (cmyk, T), "color model")
image("lab.tif", (Image.merge("LAB", rgb.split()), T), "color model")

for name, im in dict(one=one, gray=gray, palette=palette, rgb=rgb, rgba=rgba).items():
    image(f"{name}.bmp", (im, dict(format="BMP")))
for name, reason in [("x.ppm", "not an image of a known format"), ("x.tga", "not an image of a known format"),
                     ("x.ico", "not an image of a known format"), ("x.jp2", "a JPEG 2000 image"),
                     ("x.avif", "an AVIF image")]:
    try:
        image(name, (rgb.resize((64, 64)), dict(format={"jp2": "JPEG2000"}.get(name[2:], name[2:].upper()))), reason)
    except (OSError, KeyError):
        pass

# Masks.
m = np.zeros((H, W), bool)
m[80:243, 81:400] = 1
m[240:351, 81:160] = 1
L = (m * 255).astype(np.uint8)
white, none = np.full((H, W), 255, np.uint8), np.zeros((H, W), np.uint8)
ones = Image.fromarray(m.astype(np.uint8))


def mask(name, im, refused="", **options):
    im.save(f"{folder}/m_{name}", **options)
    if refused:
        return note(f"m_{name}", "mask", None, refused)
    read = Image.open(f"{folder}/m_{name}")
    if read.mode == "P":
        read = read.convert("RGBA")
    a = np.asarray(read)
    if a.ndim == 2:
        a = a[..., None]
    color, opaque = a, np.ones((H, W), bool) if a.shape[:2] == (H, W) else np.ones(a.shape[:2], bool)
    if read.mode in ("LA", "RGBA"):
        color, opaque = a[..., :-1], a[..., -1] > 0
    light = color.max(-1)
    want = (light > 0) & opaque
    if not want.any() and not opaque.all():
        want = opaque
    elif len(np.unique(light)) > 2 and (a.shape[2] == 1 or name.endswith("jpg")):
        want = light >= 128
    note(f"m_{name}", "mask", want)


def colored(*colors):
    p = Image.fromarray(m.astype(np.uint8), "P")
    p.putpalette([v for c in colors for v in c] + [0] * (768 - 3 * len(colors)))
    return p


cut = base.copy()
cut[cut.max(-1) == 0] = 1
blur = np.clip(np.asarray(Image.fromarray(L).resize((W // 4, H // 4)).resize((W, H), Image.BICUBIC)), 0, 255)
for name, im, options in [
        ("ref.png", Image.fromarray(L), {}), ("v1.png", ones, {}), ("one.png", Image.fromarray(m), {}),
        ("i16_255.png", Image.fromarray((m * 255).astype(np.uint16)), {}),
        ("i16_1.png", Image.fromarray(m.astype(np.uint16)), {}),
        ("i16_65535.png", Image.fromarray((m * 65535).astype(np.uint16)), {}),
        ("rgb.png", Image.fromarray(np.dstack([L] * 3)), {}),
        ("blue1.png", Image.fromarray(np.dstack([none, none, m])), {}),
        ("rgba_opaque.png", Image.fromarray(np.dstack([L, L, L, white])), {}),
        ("rgba_white.png", Image.fromarray(np.dstack([white, white, white, L])), {}),
        ("rgba_black.png", Image.fromarray(np.dstack([none, none, none, L])), {}),
        ("rgba_cutout.png", Image.fromarray(np.dstack([cut, L])), {}),
        ("rgba_clear.png", Image.fromarray(np.dstack([L, L, L, none])), {}),
        ("la_opaque.png", Image.fromarray(np.dstack([L, white])), {}),
        ("la_alpha.png", Image.fromarray(np.dstack([white, L])), {}),
        ("la_black.png", Image.fromarray(np.dstack([none, L])), {}),
        ("p_voc.png", colored((0, 0, 0), (128, 0, 0)), {}), ("p_inverted.png", colored((255,) * 3, (0, 0, 0)), {}),
        ("p_black.png", colored((0, 0, 0)), {}), ("p_clear.png", colored((0, 0, 0), (255,) * 3), dict(transparency=0)),
        ("l.jpg", Image.fromarray(L), dict(quality=75)), ("rgb.jpg", Image.fromarray(np.dstack([L] * 3)), {}),
        ("red.jpg", Image.fromarray(np.dstack([L, none, none])), dict(subsampling=0)),
        ("g4.tif", Image.fromarray(m), dict(compression="group4")),
        ("g3.tif", Image.fromarray(m), dict(compression="group3")),
        ("g4_white.tif", Image.fromarray(m), dict(compression="group4", tiffinfo={262: 0})),
        ("lzw.tif", Image.fromarray(m), dict(compression="tiff_lzw")),
        ("white.tif", Image.fromarray(L), dict(tiffinfo={262: 0})),
        ("l.gif", Image.fromarray(L), {}), ("one.bmp", Image.fromarray(m), {}), ("l.bmp", Image.fromarray(L), {}),
        ("l.webp", Image.fromarray(np.dstack([L] * 3)), dict(lossless=True)),
        ("exif6.png", Image.fromarray(L), dict(exif=exif(6))), ("big.png", Image.fromarray(L).resize((2 * W, 2 * H), 0), {}),
        ("small.png", Image.fromarray(L).resize((W // 2, H // 2), 0), {}), ("inv.png", Image.fromarray(255 - L), {}),
        ("empty.png", Image.fromarray(none), {}), ("full.png", Image.fromarray(white), {}),
        ("soft.png", Image.fromarray(blur), {})]:
    mask(name, im, **options)
mask("float.tif", Image.fromarray(m.astype(np.float32)), "sample format")
json.dump(listed, open(f"{folder}/list.json", "w"))
print(sum(x["kind"] == "image" for x in listed), "images,", sum(x["kind"] == "mask" for x in listed), "masks")

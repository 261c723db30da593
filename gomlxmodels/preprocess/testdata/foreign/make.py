#!/usr/bin/env python3
"""Files of formats that are not supported, for the test of their messages. HEIC, JPEG XL, PDF and texts are headers only.

    python make.py        (in this folder)

Version: Pillow 13.0.0.
"""

from PIL import Image

red, blue = Image.new("RGB", (16, 12), (200, 30, 30)), Image.new("RGB", (16, 12), (30, 30, 200))
red.save("image.avif")
red.save("image.jp2")
red.save("jpeg.tif", compression="jpeg")
red.save("moving.webp", save_all=True, append_images=[blue], duration=100)

for name, data in {
    "image.heic": b"\0\0\0\x18ftypheic\0\0\0\0mif1heic" + bytes(40),
    "image.jxl": b"\0\0\0\x0cJXL \r\n\x87\n" + bytes(20),
    "document.pdf": b"%PDF-1.7\n%\xe2\xe3\xcf\xd3\n",
    "drawing.svg": b'<?xml version="1.0"?>\n<svg xmlns="http://www.w3.org/2000/svg" width="8" height="8"/>\n',
    "page.html": b"\n<!DOCTYPE html>\n<html><head><title>404 Not Found</title></head></html>\n",
    "image.lfs.png": b"version https://git-lfs.github.com/spec/v1\noid sha256:" + b"0" * 64 + b"\nsize 12345\n",
}.items():
    with open(name, "wb") as f:
        f.write(data)

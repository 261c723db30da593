"""Makes internal/icc/testdata: color profiles (NAME.icc), and what littlecms, by Pillow's ImageCms, makes of a cube of
9 x 9 x 9 colors (NAME.rgb), or of the 256 levels of gray.

    python tools/pyref/icc.py internal/icc/testdata

Made with Python 3, Pillow 13.0.0 and numpy.
"""

import io
import struct
import sys

import numpy as np
from PIL import Image, ImageCms

fixed = lambda v: struct.pack(">i", round(v * 65536))
xyz = lambda v: b"XYZ \0\0\0\0" + b"".join(map(fixed, v))
gamma = lambda g: b"curv\0\0\0\0" + struct.pack(">IH", 1, round(g * 256))
table = lambda vs: b"curv\0\0\0\0" + struct.pack(">I", len(vs)) + np.round(np.array(vs) * 65535).astype(">u2").tobytes()
para = lambda kind, *vs: b"para\0\0\0\0" + struct.pack(">HH", kind, 0) + b"".join(map(fixed, vs))
SRGB = para(3, 2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045)
P3 = [(0.51512, 0.24120, -0.00105), (0.29198, 0.69225, 0.04189), (0.15710, 0.06657, 0.78407)]
ADOBE = [(0.60974, 0.31111, 0.01947), (0.20528, 0.62567, 0.06087), (0.14919, 0.06322, 0.74457)]
PROPHOTO = [(0.79767, 0.28804, 0), (0.13519, 0.71188, 0), (0.03134, 0.00009, 0.82491)]
STANDARD = [(0.43607, 0.22249, 0.01392), (0.38515, 0.71687, 0.09708), (0.14307, 0.06061, 0.71410)]


def profile(space, tags):
    tags = {"wtpt": xyz((0.9642, 1, 0.8249)), "desc": b"desc\0\0\0\0\0\0\0\2x\0" + bytes(79), **tags}
    at, index, data = 132 + 12 * len(tags), b"", b""
    for name, body in tags.items():
        index += name.encode() + struct.pack(">II", at + len(data), len(body))
        data += body + bytes(-len(body) % 4)
    head = struct.pack(">I4sI4s4s4s12s4s", at + len(data), b"\0\0\0\0", 0x02400000, b"mntr", space, b"XYZ ", bytes(12),
                       b"acsp") + bytes(28) + fixed(0.9642) + fixed(1) + fixed(0.8249) + bytes(48)
    assert len(head) == 128
    return head + struct.pack(">I", len(tags)) + index + data


def rgb(colorants, curve):
    return profile(b"RGB ", {n + "XYZ": xyz(c) for n, c in zip("rgb", colorants)} | {n + "TRC": curve for n in "rgb"})


PROFILES = {
    "p3": rgb(P3, SRGB),
    "adobe": rgb(ADOBE, gamma(563 / 256)),
    "prophoto": rgb(PROPHOTO, para(0, 1.8)),
    "table": rgb(ADOBE, table(np.linspace(0, 1, 33) ** 2.4)),
    "offset": rgb(P3, para(4, 2.2, 0.9, 0.1, 0.2, 0.1, 0.01, 0)),
    "linear": rgb(STANDARD, table([])),
    "srgb": rgb(STANDARD, SRGB),
    "gray": profile(b"GRAY", {"kTRC": gamma(1.8)}),
}

if __name__ == "__main__":
    folder = sys.argv[1]
    levels = np.round(np.arange(9) * 255 / 8).astype(np.uint8)
    cube = np.stack(np.meshgrid(levels, levels, levels, indexing="ij"), -1).reshape(27, 27, 3)
    for name, data in PROFILES.items():
        image = Image.fromarray(cube if name != "gray" else np.arange(256, dtype=np.uint8).reshape(16, 16))
        out = ImageCms.profileToProfile(image, ImageCms.ImageCmsProfile(io.BytesIO(data)),
                                        ImageCms.createProfile("sRGB"), outputMode="RGB")
        open(f"{folder}/{name}.icc", "wb").write(data)
        open(f"{folder}/{name}.rgb", "wb").write(np.asarray(out).tobytes())

"""Sets of real photographs for a check: python photographs.py OUT

Crops of the photographs inside the scikit-image and scikit-learn packages go to OUT/real, a mirrored or slightly
recoloured copy of each crop to OUT/near, and as many pictures of recoloured noise to OUT/noise; one folder for each
kind of subject. OUT/vit is a ViT-B/16 with random weights. Among them are pictures turned by EXIF, grey ones, ones with alpha and ones with a
palette. Nothing of it is committed: the photographs have licences of their own.

Needs scikit-image, scikit-learn, Pillow, NumPy, torch, transformers.
"""

import os
import sys

import numpy as np
import skimage
import sklearn
from PIL import Image, ImageEnhance, ImageOps

CROPS = 20  # of each photograph
KINDS = {
    "living": ["astronaut.png", "chelsea.png", "flower.jpg"],
    "things": ["coffee.png", "motorcycle_left.png", "china.jpg"],
    "sky": ["rocket.jpg", "hubble_deep_field.jpg", "moon.png"],
    "texture": ["gravel.png", "brick.png", "coins.png"],
}
TURNS = {3: Image.Transpose.ROTATE_180, 6: Image.Transpose.ROTATE_90, 8: Image.Transpose.ROTATE_270}


def find(name):
    for package, folder in ((skimage, "data"), (sklearn, "datasets/images")):
        path = os.path.join(os.path.dirname(package.__file__), folder, name)
        if os.path.exists(path):
            return Image.open(path).convert("RGB")
    sys.exit(f"{name} is neither in scikit-image nor in scikit-learn")


def save(img, path, i):
    """Saves an upright RGB picture in one of the ways that pictures come in."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    how = i % 6
    if how == 0:  # stored turned, with the EXIF entry that turns it back
        orientation = [3, 6, 8][i // 6 % 3]
        exif = Image.Exif()
        exif[0x0112] = orientation
        img.transpose(TURNS[orientation]).save(path + ".jpg", quality=92, exif=exif)
    elif how == 1:
        alpha = Image.new("L", img.size, 255)
        img.putalpha(alpha)
        img.save(path + ".png")
    elif how == 2:
        img.save(path + ".webp", quality=92)
    elif how == 3 and img.convert("L").convert("RGB").tobytes() == img.tobytes():
        img.convert("L").save(path + ".png")
    elif how == 4:
        img.save(path + ".jpg", quality=92)
    else:
        img.save(path + ".png")


def near(img, i):
    if i % 2:
        img = ImageOps.mirror(img)
    img = ImageEnhance.Brightness(img).enhance(1 + 0.03 * (i % 3 - 1))
    return ImageEnhance.Color(img).enhance(1 + 0.08 * (i % 5 - 2))


def noise(img, rng):
    """Noise over the whole range, each channel dimmed by a factor of its own."""
    n = rng.uniform(0, 255, (img.height, img.width, 3)) * rng.uniform(0.7, 1, 3)
    return Image.fromarray(n.astype(np.uint8))


def vit(out):
    import torch
    from transformers import ViTConfig, ViTModel

    torch.manual_seed(3)
    ViTModel(ViTConfig(), add_pooling_layer=False).save_pretrained(os.path.join(out, "vit"))


def main(out):
    rng = np.random.default_rng(20)
    for kind, names in KINDS.items():
        i = 0
        for name in names:
            photo = find(name)
            for _ in range(CROPS):
                side = int(rng.integers(120, min(photo.size) // 2 + 60))
                side = min(side, min(photo.size))
                x, y = rng.integers(0, photo.width - side + 1), rng.integers(0, photo.height - side + 1)
                crop = photo.crop((x, y, x + side, y + side)).resize((192, 192), Image.Resampling.LANCZOS)
                if i % 6 == 3:
                    crop = crop.convert("L").convert("RGB")
                stem = f"{os.path.splitext(name)[0]}-{i:02d}"
                save(crop.copy(), os.path.join(out, "real", kind, stem), i)
                save(near(crop, i), os.path.join(out, "near", kind, stem), i + 1)
                save(noise(crop, rng), os.path.join(out, "noise", kind, stem), i)
                i += 1
    vit(out)


if __name__ == "__main__":
    main(sys.argv[1])

"""ViT-B/16 folders as timm and transformers save them, and what the libraries make of masked pictures.

    python reference_vit.py make DIR      DIR/timm, DIR/transformers, DIR/plain (config.json, model.safetensors, random weights), DIR/images.csv, reference.npz
    python reference_vit.py compare DIR   reads DIR/timm.parquet, … with pandas; exit status 1 where a difference is beyond its bound

Bounds, of the largest value: 1e-4 for lossless pictures, where preprocessing is equal to the last bit; 2e-3 for JPEG, whose decoders differ by a level of
255 here and there, which stirred weights blow up. "plain" is transformers with weights as it makes them.

images.csv holds id, image, mask: PNG, JPEG, grey, alpha and EXIF-turned pictures of sixteen sizes, with masks of upright pixels.
Masked patches are dropped after the position embeddings. Needs torch, timm, transformers, pandas, Pillow.
"""

import csv
import pathlib
import sys

import numpy as np

N, SIDE, PATCH = 16, 224, 16
MODELS = ["timm", "transformers", "plain"]
SETS = ["full", "object_only", "background_only"]


def scene(i, rng):
    """A picture of smooth colours and edges, upright, and its mask."""
    w, h = int(rng.integers(90, 700)), int(rng.integers(90, 700))
    y, x = np.mgrid[0:h, 0:w]
    waves = [np.sin(x * rng.uniform(0.005, 0.06) + y * rng.uniform(-0.06, 0.06) + rng.uniform(0, 6)) for _ in range(3)]
    p = (127 + 100 * np.stack(waves, -1)).clip(0, 255)
    cx, cy, rx, ry = rng.uniform(0.3, 0.7, 4) * [w, h, w * 0.6, h * 0.6]
    m = ((x - cx) / rx) ** 2 + ((y - cy) / ry) ** 2 < 1
    p[m] = 255 - p[m][:, ::-1]
    if i == 5:
        m[:] = False
        m[h // 3, w // 2] = True  # a single pixel is an object
    return p.astype(np.uint8), m


def pictures(root):
    from PIL import Image

    rng = np.random.default_rng(11)
    rows, out = [], []
    for i in range(N):
        pixels, mask = scene(i, rng)
        img, name = Image.fromarray(pixels), f"{i}.png"
        if i % 4 == 1:
            img, name = img.convert("L"), f"{i}-grey.png"
        elif i % 4 == 2:
            img.putalpha(255)
            name = f"{i}-alpha.png"
        if i % 4 == 3:
            name = f"{i}-turned.jpg"
            exif = Image.Exif()
            exif[0x0112] = 6
            img.transpose(Image.Transpose.ROTATE_90).save(root / name, quality=95, exif=exif, subsampling=0)
        else:
            img.save(root / name)
        Image.fromarray((mask * 255).astype(np.uint8)).save(root / f"{i}.mask.png")
        rows.append([f"p{i}", name, f"{i}.mask.png"])
        out.append((root / name, mask))
    with open(root / "images.csv", "w", newline="") as f:
        csv.writer(f).writerows([["id", "image", "mask"], *rows])
    return out


def object_patches(mask, width, height, left, top):
    """A patch is the object's where the area of any object pixel reaches into it, the picture resized to width × height and cropped at left, top."""

    def overlap(n, size, start):
        at = np.arange(n)
        lo, hi = at * size / n - start, (at + 1) * size / n - start
        p = np.arange(SIDE // PATCH)[:, None] * PATCH
        return ((hi > p + 1e-9) & (lo < p + PATCH - 1e-9)).astype(int)

    rows, columns = overlap(mask.shape[0], height, top), overlap(mask.shape[1], width, left)
    return (rows @ mask.astype(int) @ columns.T > 0).reshape(-1)


def stir(model, torch):
    """Random weights large enough for pictures to differ in the output, and no parameter left at 0 or 1."""
    g = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for p in model.parameters():
            p.add_(torch.randn(p.shape, generator=g) * (0.03 if p.dim() > 1 else 0.1))
    return model.eval()


def make(root):
    import timm
    import torch
    from PIL import Image, ImageOps
    from transformers import ViTConfig, ViTImageProcessor, ViTModel

    root.mkdir(parents=True, exist_ok=True)
    scenes = pictures(root)
    opened = [ImageOps.exif_transpose(Image.open(path)).convert("RGB") for path, _ in scenes]
    result = {}

    def run(name, tensors, places, forward):
        kept = {s: [] for s in SETS}
        with torch.inference_mode():
            for x, (_, mask), place in zip(tensors, scenes, places):
                of = torch.from_numpy(object_patches(mask, *place))
                for s, keep in zip(SETS, (torch.ones_like(of), of, ~of)):
                    kept[s].append(forward(x[None], keep).numpy())
        for s in SETS:
            result[f"{name}/{s}"] = np.concatenate(kept[s])

    model = stir(timm.create_model("vit_base_patch16_224", pretrained=False), torch)
    timm.models.save_for_hf(model, root / "timm", safe_serialization=True)
    config = timm.data.resolve_model_data_config(model)
    transform = timm.data.create_transform(**config, is_training=False)
    edge = int(SIDE / config["crop_pct"])

    def place(img):  # torchvision: the shorter side becomes edge, then a crop around the centre
        w, h = img.size
        rw, rh = (edge, int(edge * h / w)) if w <= h else (int(edge * w / h), edge)
        return rw, rh, round((rw - SIDE) / 2), round((rh - SIDE) / 2)

    def forward_timm(x, keep):
        tokens = model._pos_embed(model.patch_embed(x))
        tokens = model.norm_pre(torch.cat([tokens[:, :1], tokens[:, 1:][:, keep]], 1))
        return model.norm(model.blocks(tokens))[:, 0]

    run("timm", [transform(i) for i in opened], [place(i) for i in opened], forward_timm)

    for name in ("transformers", "plain"):
        torch.manual_seed(3)
        processor = ViTImageProcessor()
        vit = ViTModel(ViTConfig()).eval() if name == "plain" else stir(ViTModel(ViTConfig()), torch)
        vit.save_pretrained(root / name)
        processor.save_pretrained(root / name)

        def forward_transformers(x, keep):
            tokens = vit.embeddings(x)
            tokens = torch.cat([tokens[:, :1], tokens[:, 1:][:, keep]], 1)
            for layer in getattr(vit, "layers", None) or vit.encoder.layer:
                tokens = layer(tokens)
                tokens = tokens[0] if isinstance(tokens, tuple) else tokens
            return vit.layernorm(tokens)[:, 0]

        inputs = [processor(i, return_tensors="pt").pixel_values[0] for i in opened]
        run(name, inputs, [(SIDE, SIDE, 0, 0)] * N, forward_transformers)
        with torch.inference_mode():  # the layers called one by one are the library's own forward
            own = vit(inputs[0][None]).last_hidden_state[:, 0].numpy()
        assert np.allclose(own, result[f"{name}/full"][:1], atol=1e-4), "the reference does not agree with itself"
    np.savez(root / "reference.npz", **result)


def compare(root):
    import pandas as pd

    reference, failed = np.load(root / "reference.npz"), False
    jpeg = np.array([path.endswith(".jpg") for path in pd.read_csv(root / "images.csv")["image"]])
    for name in MODELS:
        table = pd.read_parquet(root / f"{name}.parquet")
        assert list(table["id"]) == [f"p{i}" for i in range(N)], "other rows, or another order"
        for s in SETS:
            ours, theirs = np.stack(table[s]), reference[f"{name}/{s}"]
            worst = np.abs(ours - theirs).max(1) / np.abs(theirs).max()
            bound = np.where(jpeg, 2e-3, 1e-4)
            failed |= not (worst <= bound).all()
            spread = theirs.std(0).mean() / np.abs(theirs).max()
            print(f"{name:13} {s:16} {ours.shape}  worst difference, of the largest value: lossless {worst[~jpeg].max():.1e}, JPEG {worst[jpeg].max():.1e} (pictures differ by {spread:.1e})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    {"make": make, "compare": compare}[sys.argv[1]](pathlib.Path(sys.argv[2]))

#!/usr/bin/env python3
"""Goldens for gomlxmodels/inception: Inception v3 with random weights, of torch-fidelity (the network of FID) and of torchvision,
each as a file of torch.save under its publisher's name, with what the network gives.

    python tools/pyref/inception.py gomlxmodels/inception/testdata
    python tools/pyref/inception.py --real DIR
    ANTIPODE_INCEPTION_REAL=DIR go test -tags real -run Real -v ./gomlxmodels/inception

testdata/fid, testdata/torchvision: all widths divided by 16, maps of 75 pixels; --real: the networks' own widths, images of
several sizes through the preprocessing. Versions: torch 2.15.0, torchvision 0.29.2, torch-fidelity 0.4.0, timm 1.0.31,
Pillow 13.0.0. Seed 20151205. Torch runs on one thread in float32.
"""

import pathlib
import shutil
import sys
import tempfile
import warnings

import numpy as np
import timm
import torch
import torch_fidelity.feature_extractor_inceptionv3 as fidelity
import torchvision.models.inception as vision
from safetensors.torch import save_file
from timm.data import create_transform, resolve_model_data_config

from preprocess import picture

torch.set_num_threads(1)
warnings.simplefilter("ignore")
SEED = 20151205
FEATURES = ["2048", "logits_unbiased"]


class Narrow:
    """torch.nn with divided widths, but for the three channels of images."""

    def __init__(self, by):
        self.by = by

    def __getattr__(self, name):
        return getattr(torch.nn, name)

    def Conv2d(self, i, o, **kw):
        return torch.nn.Conv2d(3 if i == 3 else i // self.by, o // self.by, **kw)

    def BatchNorm2d(self, o, **kw):
        return torch.nn.BatchNorm2d(o // self.by, **kw)


class Fidelity(fidelity.FeatureExtractorInceptionV3):
    def load_state_dict(self, *args, **kw):
        """The constructor's, of a file that there is none of."""


def build(kind, by):
    (fidelity if kind == "fid" else vision).nn = Narrow(by)
    if kind == "fid":
        with tempfile.NamedTemporaryFile() as f:
            torch.save({}, f.name)
            m = Fidelity("inception", FEATURES, feature_extractor_weights_path=f.name)
        m.fc = torch.nn.Linear(2048 // by, 1008)
    else:
        m = vision.Inception3(num_classes=1000 if by == 1 else 10, aux_logits=by == 1, transform_input=True, init_weights=False)
        m.fc = torch.nn.Linear(2048 // by, m.fc.out_features)
    return m.eval()


def shake(m, g):
    with torch.no_grad():
        for name, p in [*m.named_parameters(), *m.named_buffers()]:
            if "num_batches" in name:
                continue
            if "running_var" in name:
                p.uniform_(0.5, 1.5, generator=g)
            elif p.ndim > 1:
                p.normal_(0, 1.4 * p[0].numel() ** -0.5, generator=g)
            else:
                p.normal_(1 if name.endswith("bn.weight") else 0, 0.2, generator=g)
    return m


def outputs(m, kind, pixels):
    """Of pixels of 0 to 255 (fid), or in [−1, 1]."""
    with torch.inference_mode():
        if kind == "fid":
            return m(pixels)
        seen = []
        hook = m.avgpool.register_forward_hook(lambda _, __, y: seen.append(y.flatten(1)))
        m.transform_input = False
        logits = m(pixels)
        hook.remove()
        return seen[0], logits


def texture(side):
    """[2,3,side,side] of 0 to 255, which the test computes too."""
    b, c, y, x = torch.meshgrid(*(torch.arange(n) for n in (2, 3, side, side)), indexing="ij")
    return (3 * x * x + 5 * x * y + 7 * y + 91 * c + 57 * b) % 256


NAMES = {"fid": "pt_inception-2015-12-05-6726825d.pth", "torchvision": "inception_v3_google-0cc3c7bd.pth"}


def main(root):
    for number, kind in enumerate(NAMES):
        folder = root / kind
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        g = torch.Generator().manual_seed(SEED + number)
        m = shake(build(kind, 16), g)
        torch.save(m.state_dict(), folder / NAMES[kind])
        if kind == "fid":
            Fidelity.INPUT_IMAGE_SIZE = 75
            pooled, logits = outputs(m, kind, texture(75).to(torch.uint8))
            big = torch.randint(0, 256, (1, 3, 31, 97), generator=g).to(torch.uint8)
            resized = fidelity.interpolate_bilinear_2d_like_tensorflow1x(big.float(), size=(299, 299), align_corners=False)
            extra = {"picture": big[0].permute(1, 2, 0), "processed": ((resized - 128) / 128)[0, :, ::23, ::29]}
        else:
            extra = {}
            pooled, logits = outputs(m, kind, (texture(75).float() - 128) / 128)
        out = {"pooled": pooled, "logits": logits, **extra}
        small = lambda k: torch.bfloat16 if k == "picture" else torch.float32  # exact: it has 8 bits
        save_file({k: v.to(small(k)).contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def real(root):
    from torchvision.transforms import InterpolationMode, functional

    for number, kind in enumerate([*NAMES, "timm"]):
        folder = root / kind
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        g = torch.Generator().manual_seed(SEED + number)
        if kind == "timm":
            m = shake(timm.create_model("inception_v3.tv_in1k", pretrained=False), g).eval()
            timm.models.save_for_hf(m, folder, safe_serialization=True)
            (folder / "pytorch_model.bin").unlink(missing_ok=True)
            transform = create_transform(**resolve_model_data_config(m), is_training=False)
        else:
            m = shake(build(kind, 1), g)
            torch.save(m.state_dict(), folder / NAMES[kind])
        m.INPUT_IMAGE_SIZE = 299
        pooled, logits = [], []
        for i, (w, h) in enumerate([(640, 480), (300, 400), (299, 299), (97, 130)]):
            p = picture(w, h, seed=200 + i)
            p.save(folder / f"{i}.png")
            if kind == "fid":
                a, b = outputs(m, kind, torch.from_numpy(np.array(p)).permute(2, 0, 1)[None])
            elif kind == "torchvision":
                x = functional.center_crop(functional.resize(p, [342], InterpolationMode.BILINEAR, antialias=True), [299])
                x = functional.normalize(functional.to_tensor(x), [0.485, 0.456, 0.406], [0.229, 0.224, 0.225])
                m.transform_input = True
                a, b = outputs(m, kind, m._transform_input(x[None]))
            else:
                with torch.inference_mode():
                    x = m.forward_features(transform(p)[None])
                    a, b = x.mean((2, 3)), m.forward_head(x)
            pooled.append(a[0])
            logits.append(b[0])
        save_file({"pooled": torch.stack(pooled).contiguous(), "logits": torch.stack(logits).contiguous()}, folder / "golden.safetensors")


if __name__ == "__main__":
    if sys.argv[1] == "--real":
        real(pathlib.Path(sys.argv[2]))
    else:
        main(pathlib.Path(sys.argv[1]))

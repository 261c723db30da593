"""timm's masked passes of a random vit_base_patch16_224. Argument: the number of images.

Command `masked BATCH`: three masked passes (whole, object, background) with the excluded keys at minus infinity, in batches. `drop BATCH` removes
tokens, which is possible for one image at a time only. `bfloat16 BATCH` is masked with a network in bfloat16. `openvino BATCH`, `openvino-bfloat16 BATCH` and `onnxruntime BATCH` are the three masked
passes of the same network, exported, in these libraries.
"""

import copy
import functools

import numpy as np
import timm
import torch

from peer import arguments, exported, folder, seed, serve, threads

count = int(arguments[0])
torch.set_num_threads(threads)
torch.manual_seed(seed)
model = timm.create_model("vit_base_patch16_224", pretrained=False, num_classes=0).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.ndim == 2:
            p.normal_(0, p.shape[1] ** -0.5)
timm.models.save_for_hf(model, folder, safe_serialization=True)
pixels = torch.from_numpy(np.fromfile(folder / "pixels.f32", np.float32).reshape(count, 3, 224, 224))
objects = torch.from_numpy(np.fromfile(folder / "objects.u8", np.uint8).reshape(count, 196) != 0)


@functools.cache
def rounded():
    return copy.deepcopy(model).to(torch.bfloat16)


def embed(x, model=model):
    return model.norm_pre(model.patch_drop(model._pos_embed(model.patch_embed(x))))


def blocks(x, keep=None, model=model):
    mask = None
    if keep is not None:
        keep = torch.cat([torch.ones(len(keep), 1, dtype=torch.bool), keep], 1)
        mask = keep[:, None, None, :].expand(-1, 1, keep.shape[1], -1)
    for block in model.blocks:
        x = block(x, attn_mask=mask)
    return model.norm(x)[:, 0].float()


class Masked(torch.nn.Module):
    """One pass with the patches to keep."""

    def __init__(self):
        super().__init__()
        self.model = model

    def forward(self, x, keep):
        return blocks(embed(x), keep)


@functools.cache
def runtime(mode, batch):
    """The pass as a function on tensors of a batch size, in another library."""
    return exported(mode, Masked(), (torch.zeros(batch, 3, 224, 224), torch.ones(batch, 196, dtype=torch.bool)))


@torch.inference_mode()
def run(mode, batch):
    if mode not in ("masked", "drop", "bfloat16"):
        infer, out = runtime(mode, int(batch)), []
        for at in range(0, count, int(batch)):
            x, o = pixels[at : at + int(batch)], objects[at : at + int(batch)]
            out.append(torch.stack([infer(x, keep) for keep in (torch.ones_like(o), o, ~o)]))
        return torch.cat(out, 1)
    out, net = [], rounded() if mode == "bfloat16" else model
    for at in range(0, count, int(batch)):
        x, o = pixels[at : at + int(batch)], objects[at : at + int(batch)]
        x = embed(x.to(net.cls_token.dtype), net)
        full = blocks(x, model=net)
        if mode != "drop":
            parts = blocks(x, o, net), blocks(x, ~o, net)
        else:
            one = torch.ones(1, dtype=torch.bool)
            parts = [torch.cat([blocks(t[None, torch.cat([one, k])]) for t, k in zip(x, keep)]) for keep in (o, ~o)]
        out.append(torch.stack([full, *parts]))
    return torch.cat(out, 1)  # [3,count,768]


serve(f"timm {timm.__version__}, torch {torch.__version__}", run)

"""transformers' GroundingDINO and SAM in the shapes of grounding-dino-tiny and sam-vit-base, random weights. Argument: the number of boxes.

It writes the folders detector and segmenter, pixels.f32 (800×1066), padded.f32 (1024×1024) and boxes.f32. Command `run` computes both for one image:
seconds of the image backbone, of all else of the detector, of SAM's image encoder, of its mask decoder; the scores of the detector's queries in
descending order, and the masks' logits.
"""

import time

import numpy as np
import torch
import transformers
from transformers import (
    BertTokenizer,
    GroundingDinoConfig,
    GroundingDinoForObjectDetection,
    GroundingDinoImageProcessor,
    GroundingDinoProcessor,
    SamConfig,
    SamImageProcessor,
    SamModel,
)

from peer import arguments, folder, resident, seed, serve, threads

torch.set_num_threads(threads)
torch.manual_seed(seed)
detector, segmenter = GroundingDinoForObjectDetection(GroundingDinoConfig()).eval(), SamModel(SamConfig()).eval()
with torch.no_grad():
    for model in (detector, segmenter):
        for name, p in model.named_parameters():
            if "positional_embedding" in name:
                p.normal_(0, 1)
            else:
                p.add_(torch.randn(p.shape) * 0.02)
words = ["[PAD]"] + [f"word{i}" for i in range(1, 1030)]
words[100:104], words[1012], words[1029] = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"], ".", "?"
tokenizer = BertTokenizer(vocab={w: i for i, w in enumerate(words)})
detector.save_pretrained(folder / "detector")
GroundingDinoProcessor(GroundingDinoImageProcessor(), tokenizer).save_pretrained(folder / "detector")
segmenter.save_pretrained(folder / "segmenter")
SamImageProcessor().save_pretrained(folder / "segmenter")

rng = np.random.default_rng(seed)
pixels = rng.standard_normal((1, 3, 800, 1066), np.float32)
padded = rng.standard_normal((1, 3, 1024, 1024), np.float32)
corners = np.sort(rng.integers(0, 1000, (int(arguments[0]), 2, 2)), 1).astype(np.float32) + [[0, 0], [9, 9]]
boxes = corners.reshape(1, -1, 4).astype(np.float32)
for name, values in dict(pixels=pixels, padded=padded, boxes=boxes).items():
    values.tofile(folder / f"{name}.f32")
pixels, padded, boxes = (torch.from_numpy(x) for x in (pixels, padded, boxes))
ids = torch.tensor([[101, 200, 201, 1012, 202, 203, 204, 1012, 102]])

spent = {}


def measure(module):
    module.register_forward_pre_hook(lambda *_: spent.__setitem__("begin", time.perf_counter()))
    module.register_forward_hook(lambda *_: spent.__setitem__("image", spent["image"] + time.perf_counter() - spent["begin"]))


for part in (detector.model.backbone, *detector.model.input_proj_vision):
    measure(part)


@torch.inference_mode()
def run(_):
    spent["image"] = 0
    start = time.perf_counter()
    found = detector(pixel_values=pixels, input_ids=ids)
    middle = time.perf_counter()
    embeddings = segmenter.get_image_embeddings(padded)
    encoded = time.perf_counter()
    masks = segmenter(image_embeddings=embeddings, input_boxes=boxes, multimask_output=False).pred_masks
    end = time.perf_counter()
    scores = found.logits.sigmoid().max(-1)[0].flatten().sort(descending=True)[0]
    seconds = [spent["image"], middle - start - spent["image"], middle - start, encoded - middle, end - encoded, end - middle]
    return dict(seconds=seconds, array=torch.cat([scores, masks.flatten()]), mib=resident("VmHWM"))


serve(f"transformers {transformers.__version__}, torch {torch.__version__}", run)

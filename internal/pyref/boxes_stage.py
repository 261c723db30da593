#!/usr/bin/env python3
"""Goldens for gomlxmodels/stage/segment with a detector: what GroundingDinoProcessor, GroundingDinoForObjectDetection, SamProcessor and
SamModel, with the small random models that groundingdino.py and sam.py make, give for images and words: boxes, labels, scores, masks at
the image's own size.

    python internal/pyref/boxes_stage.py gomlxmodels/groundingdino/testdata/shared gomlxmodels/sam/testdata/windows gomlxmodels/stage/segment/testdata

Versions: torch 2.15.0, transformers 5.23.0, Pillow 13.0.0, pycocotools 2.0.11, Python 3.11+. Torch runs on one thread in float32. Thresholds are
chosen where no score is near. The images are those of clipseg_stage.py.
"""

import json
import pathlib
import sys

import numpy as np
import torch
from groundingdino import build
from PIL import Image
from pycocotools import mask as coco
from transformers import GroundingDinoConfig, GroundingDinoProcessor, SamModel, SamProcessor

torch.set_num_threads(1)
CASES = [("rgb-61x40.png", "cat", 3), ("rgb-61x40.png", "remote control|dog", 2), ("alpha-33x70.png", "Red car", 1), ("grey-48x48.png", "person", 4),
         ("rgb-20x130.png", "dog|cat", 4)]


def between(scores, keep):
    """A threshold that about so many scores exceed, far from all of them."""
    s = np.sort(scores.astype(np.float64))[::-1]
    logits = np.log(s / (1 - s))
    at = max(range(max(keep - 1, 1), keep + 3), key=lambda i: logits[i - 1] - logits[i])
    assert logits[at - 1] - logits[at] > 0.02, logits
    return round(float(s[at - 1] + s[at]) / 2, 8)


def main(dino_folder, sam_folder, out):
    dino_folder = pathlib.Path(dino_folder)
    processor = GroundingDinoProcessor.from_pretrained(dino_folder)
    dino, _ = build(GroundingDinoConfig.from_pretrained(dino_folder), json.loads((dino_folder / "tensors.json").read_text())["seed"])
    sam, sam_processor = SamModel.from_pretrained(sam_folder).eval(), SamProcessor.from_pretrained(sam_folder)
    cases = []
    with torch.inference_mode():
        for file, cell, keep in CASES:
            image = Image.open(pathlib.Path(out) / file).convert("RGB")
            size = (image.height, image.width)
            outputs = []
            for name in cell.split("|"):
                inputs = processor(images=image, text=name.lower() + ".", return_tensors="pt")
                outputs.append((name, inputs, dino(**inputs)))
            scores = np.concatenate([o.logits.sigmoid().max(-1)[0][0].numpy() for _, _, o in outputs])
            threshold, found, masks = between(scores, keep), [], []
            for name, inputs, o in outputs:
                r = processor.post_process_grounded_object_detection(o, inputs.input_ids, threshold=threshold, text_threshold=0.25, target_sizes=[size])[0]
                order = r["scores"].argsort(descending=True)
                for i in order.tolist():
                    found.append(dict(object=name, label=r["text_labels"][i], score=float(r["scores"][i]), box=r["boxes"][i].tolist()))
            prompt = sam_processor(image, input_boxes=[[f["box"] for f in found]], return_tensors="pt")
            result = sam(pixel_values=prompt.pixel_values, input_boxes=prompt.input_boxes.float(), multimask_output=False)
            logits = sam_processor.image_processor.post_process_masks(result.pred_masks, prompt.original_sizes, prompt.reshaped_input_sizes, binarize=False)[0][:, 0].numpy()
            for f, iou, l in zip(found, result.iou_scores[0, :, 0].tolist(), logits):
                m = l > 0
                f.update(iou=iou, stability=float((l > 1).sum() / max((l > -1).sum(), 1)), area=int(m.sum()),
                         mask=coco.encode(np.asfortranarray(m.astype(np.uint8)))["counts"].decode(), near=int((abs(l) < 1e-3).sum()))
            cases.append(dict(image=file, cell=cell, threshold=threshold, size=size, best=float(scores.max()), boxes=found))
            print(file, cell, threshold, [(f["object"], f["label"], round(f["score"], 3), f["area"], f["near"]) for f in found])
    (pathlib.Path(out) / "boxes.json").write_text(json.dumps(cases))


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Goldens for gomlxmodels/stage/segment with a detector: what transformers' detector and segmenter, with the small random models that
groundingdino.py, owlv2.py, sam.py and sam2.py make, give for images and words: boxes, labels, scores, masks at the image's own size.

    python tools/pyref/boxes_stage.py gomlxmodels/groundingdino/testdata/shared gomlxmodels/sam/testdata/other-shape gomlxmodels/stage/segment/testdata boxes.json
    python tools/pyref/boxes_stage.py gomlxmodels/owlv2/testdata/wide gomlxmodels/sam2/testdata/windows gomlxmodels/stage/segment/testdata owl_boxes.json

Versions: torch 2.15.0, transformers 5.23.0, Pillow 13.0.0, pycocotools 2.0.11, Python 3.11+. Torch runs on one thread in float32. Thresholds are
chosen where no score is near. The images are those of clipseg_stage.py.
"""

import json
import pathlib
import sys

import numpy as np
import owlv2
import sam2
import torch
from groundingdino import build
from PIL import Image
from pycocotools import mask as coco
from transformers import (AutoConfig, GroundingDinoProcessor, Owlv2Processor, Sam2ImageProcessor, Sam2Processor, SamImageProcessor, SamModel,
                          SamProcessor)

torch.set_num_threads(1)
CASES = [("rgb-61x40.png", "cat", 3), ("rgb-61x40.png", "remote control|dog", 2), ("alpha-33x70.png", "Red car", 1), ("grey-48x48.png", "person", 4),
         ("rgb-20x130.png", "dog|cat", 4)]
SHORT = {"remote control|dog": "car|dog", "Red car": "Cat", "person": "dog"}  # OWLv2's small model takes 9 tokens


def between(scores, keep, gap):
    """A threshold that about so many scores exceed, far from all of them."""
    s = np.sort(scores.astype(np.float64))[::-1]
    logits = np.log(s / (1 - s))
    at = max(range(max(keep - 1, 1), keep + 3), key=lambda i: logits[i - 1] - logits[i])
    assert logits[at - 1] - logits[at] > gap, logits
    return round(float(s[at - 1] + s[at]) / 2, 8)


def opened(folder, make):
    return make(AutoConfig.from_pretrained(folder), json.loads((pathlib.Path(folder) / "tensors.json").read_text())["seed"])[0]


def dino(folder):
    processor, model = GroundingDinoProcessor.from_pretrained(folder), opened(folder, build)

    def run(image, name):
        inputs = processor(images=image, text=name.lower() + ".", return_tensors="pt")
        o = model(**inputs)
        return o.logits.sigmoid().max(-1)[0][0].numpy(), lambda threshold: processor.post_process_grounded_object_detection(
            o, inputs.input_ids, threshold=threshold, text_threshold=0.25, target_sizes=[(image.height, image.width)])[0]
    return run


def owl(folder):
    processor, model = Owlv2Processor.from_pretrained(folder), opened(folder, owlv2.build)

    def run(image, name):
        o = model(**processor(images=image, text=[[name]], return_tensors="pt"))
        return o.logits.sigmoid().max(-1)[0][0].numpy(), lambda threshold: processor.post_process_grounded_object_detection(
            o, threshold=threshold, target_sizes=[(image.height, image.width)], text_labels=[[name]])[0]
    return run


def segmenter(folder):
    two = AutoConfig.from_pretrained(folder).model_type == "sam2"
    processor = Sam2Processor(Sam2ImageProcessor.from_pretrained(folder)) if two else SamProcessor(SamImageProcessor.from_pretrained(folder))
    model = opened(folder, sam2.build) if two else SamModel.from_pretrained(folder).eval()

    def run(image, boxes):
        prompt = processor(image, input_boxes=[boxes], return_tensors="pt")
        result = model(pixel_values=prompt.pixel_values, input_boxes=prompt.input_boxes.float(), multimask_output=False)
        sizes = [prompt.original_sizes] + ([] if two else [prompt.reshaped_input_sizes])
        large = processor.image_processor.post_process_masks(result.pred_masks, *sizes, binarize=False)[0][:, 0].numpy()
        return large, result.iou_scores[0, :, 0].tolist()
    return run


def main(detector_folder, segmenter_folder, out, file):
    two = AutoConfig.from_pretrained(detector_folder).model_type == "owlv2"
    detect = (owl if two else dino)(detector_folder)
    segment, cases = segmenter(segmenter_folder), []
    with torch.inference_mode():
        for name, cell, keep in CASES:
            cell = SHORT.get(cell, cell) if two else cell
            image = Image.open(pathlib.Path(out) / name).convert("RGB")
            outputs = [(o, *detect(image, o)) for o in cell.split("|")]
            scores = np.concatenate([s for _, s, _ in outputs])
            threshold, found = between(scores, keep, 0.002 if two else 0.02), []
            for o, _, boxes in outputs:
                r = boxes(threshold)
                for i in r["scores"].argsort(descending=True).tolist():
                    found.append(dict(object=o, label=r["text_labels"][i], score=float(r["scores"][i]), box=r["boxes"][i].tolist()))
            for f, l, iou in zip(found, *segment(image, [f["box"] for f in found])):
                m = l > 0
                f.update(iou=iou, stability=float((l > 1).sum() / max((l > -1).sum(), 1)), area=int(m.sum()),
                         mask=coco.encode(np.asfortranarray(m.astype(np.uint8)))["counts"].decode(), near=int((abs(l) < 1e-3).sum()))
            cases.append(dict(image=name, cell=cell, threshold=threshold, size=(image.height, image.width), best=float(scores.max()), boxes=found))
            print(name, cell, threshold, [(f["object"], f["label"], round(f["score"], 3), f["area"], f["near"]) for f in found])
    (pathlib.Path(out) / file).write_text(json.dumps(cases))


if __name__ == "__main__":
    main(*sys.argv[1:])

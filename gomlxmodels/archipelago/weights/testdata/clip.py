#!/usr/bin/env python3
"""What transformers makes of pictures and texts with archipelago-clip, and of masks with archipelago-clipseg.

    python clip.py FOLDER QUESTION.json > ANSWER.json

FOLDER is the model's; its class says which of the two it is. QUESTION.json holds {"pictures": [paths], "texts": [texts]}. The answer
has the texts again and: of a CLIPModel the vectors of length 1 of pictures and texts, and the logits, a row a picture; of a
CLIPSegForImageSegmentation the logits of each picture under each text, every eighth pixel of every eighth row. Versions:
transformers 5.23.0, torch 2.15.0, one thread, float32.
"""

import json
import pathlib
import sys

import torch
from PIL import Image
from transformers import AutoConfig, AutoImageProcessor, AutoTokenizer, CLIPModel, CLIPSegForImageSegmentation

torch.set_num_threads(1)
folder = pathlib.Path(sys.argv[1])
question = json.loads(pathlib.Path(sys.argv[2]).read_text())
texts = question["texts"]
pictures = [Image.open(p).convert("RGB") for p in question["pictures"]]
pixels = AutoImageProcessor.from_pretrained(folder)(pictures, return_tensors="pt")["pixel_values"]
tokens = AutoTokenizer.from_pretrained(folder)(texts, return_tensors="pt", padding=True, truncation=True)
answer = {"texts": texts}
with torch.inference_mode():
    if AutoConfig.from_pretrained(folder).model_type == "clip":
        out = CLIPModel.from_pretrained(folder, dtype=torch.float32).eval()(pixel_values=pixels, **tokens)
        answer |= {"images": out.image_embeds.tolist(), "vectors": out.text_embeds.tolist(), "logits": out.logits_per_image.tolist()}
    else:
        model = CLIPSegForImageSegmentation.from_pretrained(folder, dtype=torch.float32).eval()
        answer["masks"] = [
            model(pixel_values=p.expand(len(texts), -1, -1, -1), **tokens).logits.reshape(len(texts), 128, 128)[:, ::8, ::8].flatten(1).tolist() for p in pixels
        ]
json.dump(answer, sys.stdout, separators=(",", ":"), ensure_ascii=False)

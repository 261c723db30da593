#!/usr/bin/env python3
"""What transformers writes of pictures with archipelago-blip, greedily.

    python blip.py FOLDER QUESTION.json > ANSWER.json

FOLDER is the model's; QUESTION.json holds {"pictures": [paths], "texts": [prefixes]}. The answer has the prefixes again and for each
picture and prefix the tokens, the start and the end included, and the words. Versions: transformers 5.23.0, torch 2.15.0, one thread,
float32.
"""

import json
import pathlib
import sys

import torch
from PIL import Image
from transformers import BlipForConditionalGeneration, BlipProcessor

torch.set_num_threads(1)
folder = pathlib.Path(sys.argv[1])
question = json.loads(pathlib.Path(sys.argv[2]).read_text())
processor = BlipProcessor.from_pretrained(folder)
model = BlipForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
answer = {"texts": question["texts"], "captions": []}
with torch.inference_mode():
    for path in question["pictures"]:
        picture, said = Image.open(path).convert("RGB"), []
        for prefix in question["texts"]:
            inputs = processor(picture, prefix, return_tensors="pt") if prefix else processor(picture, return_tensors="pt")
            ids = model.generate(**inputs, max_new_tokens=48)[0]
            said.append({"tokens": ids.tolist(), "words": processor.decode(ids, skip_special_tokens=True)})
        answer["captions"].append(said)
json.dump(answer, sys.stdout, separators=(",", ":"), ensure_ascii=False)

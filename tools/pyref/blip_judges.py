#!/usr/bin/env python3
"""Goldens for the judges of gomlxmodels/blip that answer no questions: a small random BlipForImageTextRetrieval (folder match), whose
cases are texts with the log-probabilities of "no" and "yes", and the captioner of the folder base, whose cases are the begins of
captions with the log-likelihood of each continuation. Both are written to questions.json, as blip_questions.py does.

    python tools/pyref/blip_judges.py gomlxmodels/blip/testdata
    python tools/pyref/blip_judges.py --real FOLDER

With --real FOLDER/match has the shape of blip-itm-base-coco and ids at random.

Versions: torch 2.15.0, transformers 5.24.0, safetensors, Python 3.11+. Seed 20220131. Torch runs in float32.
"""

import json
import pathlib
import shutil
import sys
import time

import torch
from blip import WORDS, config, shake
from blip_questions import QUESTIONS, random_ids
from safetensors.torch import load_file, save_file
from transformers import AutoTokenizer, BertTokenizer, BlipConfig, BlipForConditionalGeneration, BlipForImageTextRetrieval, BlipImageProcessor

SEED = 20220131


def write(root, cases):
    (root / "questions.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    print(json.dumps([dict(likelihoods=c["likelihoods"], seconds=c["seconds"]) for c in cases]))


def match(root, real):
    g = torch.Generator().manual_seed(SEED)
    shutil.rmtree(root, ignore_errors=True)
    root.mkdir(parents=True)
    if real:
        model = BlipForImageTextRetrieval(BlipConfig(text_config=dict(num_attention_heads=12))).eval()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if p.ndim > 1:
                    p.normal_(0, 0.06 if "embedding" in name else 1.2 * p[0].numel() ** -0.5, generator=g)
                else:
                    p.add_(torch.randn(p.shape, generator=g) * 0.05)
        texts = [("", [101, *random_ids(g, n, 1000, 30000), 102]) for n in (6, 9, 20, 33)]
    else:
        torch.set_num_threads(1)
        model = shake(BlipForImageTextRetrieval(config(text=dict(hidden_size=24, intermediate_size=32, num_attention_heads=3, encoder_hidden_size=24), vision=dict(hidden_size=24, num_hidden_layers=1))), g)
        (root / "vocab.txt").write_text("\n".join((WORDS + ["word%d" % i for i in range(99)])[:96]) + "\n")
        tokenizer = BertTokenizer(vocab=str(root / "vocab.txt"))
        tokenizer.save_pretrained(root)
        BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(root)
        texts = [(text, tokenizer(text).input_ids) for text, _ in QUESTIONS]
    model.save_pretrained(root)
    side = model.config.vision_config.image_size
    pixels = torch.randn(2, 3, side, side, generator=g) * 2
    save_file({"pixels": pixels}, root / "golden.safetensors")
    cases = []
    for n, (text, ids) in enumerate(texts):
        begin = time.monotonic()
        with torch.inference_mode():
            logits = model(input_ids=torch.tensor([ids]), pixel_values=pixels[n % 2 : n % 2 + 1], attention_mask=torch.ones(1, len(ids), dtype=torch.long), use_itm_head=True).itm_score
        seconds = time.monotonic() - begin
        cases.append(dict(image=n % 2, text=text, words=["no", "yes"], question=ids, choices=None, likelihoods=logits[0].log_softmax(-1).tolist(), written=[], seconds=seconds if real else 0))
    write(root, cases)


def continued(root):
    torch.set_num_threads(1)
    model = BlipForConditionalGeneration.from_pretrained(root).eval()
    tokenizer, c = AutoTokenizer.from_pretrained(root), model.config.text_config
    pixels, cases = load_file(root / "golden.safetensors")["pixels"], []
    for n, (text, words) in enumerate(QUESTIONS):
        at = n % len(pixels)
        prompt = [c.bos_token_id, *tokenizer(text).input_ids[1:-1]]
        choices = [[c.bos_token_id, *tokenizer(f"{text} {w}").input_ids[1:-1], c.sep_token_id] for w in words]
        with torch.inference_mode():
            image = model.vision_model(pixel_values=pixels[at : at + 1]).last_hidden_state
            sums = []
            for ids in choices:
                p = model.text_decoder(input_ids=torch.tensor([ids[:-1]]), encoder_hidden_states=image).logits[0].log_softmax(-1)
                sums.append(sum(p[k - 1, ids[k]].item() for k in range(len(prompt), len(ids))))
            out = model.text_decoder.generate(input_ids=torch.tensor([prompt]), eos_token_id=c.sep_token_id, pad_token_id=c.pad_token_id, encoder_hidden_states=image, do_sample=False, max_new_tokens=10)
        cases.append(dict(image=at, text=text, words=words, question=prompt, choices=choices, likelihoods=sums, written=out[0, len(prompt) :].tolist(), seconds=0))
    write(root, cases)


if __name__ == "__main__":
    folder = pathlib.Path(sys.argv[-1])
    match(folder / "match", "--real" in sys.argv)
    if "--real" not in sys.argv:
        continued(folder / "base")

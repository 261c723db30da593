#!/usr/bin/env python3
"""A BLIP captioner of the base shape with random weights, for the checks of gomlxmodels/blip.

    python tools/pyref/blip_real.py FOLDER

saves the model (1 GB) with golden.safetensors (pixels [3,3,384,384], step.logits [step,3,V] of the greedy captions, before any setting) and
captions.json, as blip.py does, with the least margin between the two likeliest tokens of each picture's greedy steps.

Versions: torch 2.15.0, transformers 5.23.0, safetensors, Python 3.11+. Seed 20220129. Torch runs in float32.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import BlipConfig, BlipForConditionalGeneration

SEED = 20220129
END = 102


def main(root):
    root.mkdir(parents=True, exist_ok=True)
    g = torch.Generator().manual_seed(SEED)
    model = BlipForConditionalGeneration(BlipConfig(text_config=dict(num_attention_heads=12))).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                p.normal_(0, 0.06 if "embedding" in name else 1.2 * p[0].numel() ** -0.5, generator=g)
            else:
                p.add_(torch.randn(p.shape, generator=g) * 0.05)
        model.text_decoder.bert.embeddings.position_embeddings.weight.mul_(4)
        model.text_decoder.cls.predictions.decoder.bias[END] += 5
    model.save_pretrained(root)
    pixels = torch.randn(3, 3, 384, 384, generator=g) * 2
    cases, out = [], {"pixels": pixels}
    for settings, prompt in [({}, []), (dict(num_beams=3, num_return_sequences=2), [1037, 3861, 1997]), (dict(repetition_penalty=1.4, min_new_tokens=5), [2019])]:
        ids = torch.tensor([[101, *prompt, END]] * 3)
        with torch.inference_mode():
            r = model.generate(pixel_values=pixels, input_ids=ids, do_sample=False, max_new_tokens=12, return_dict_in_generate=True, output_logits=True, **settings)
        rows = [row[: row.index(END) + 1] if END in row else row for row in r.sequences[:, 1 + len(prompt) :].tolist()]
        many = settings.get("num_return_sequences", 1)
        if not cases:
            out["step.logits"] = torch.stack(r.logits)
            top = out["step.logits"].topk(2).values
            print("least margins of greedy steps:", (top[..., 0] - top[..., 1]).min(0).values.tolist())
        cases += [dict(settings={**settings, "max_new_tokens": 12}, prompt=prompt, picture=i, tokens=rows[i * many : (i + 1) * many]) for i in range(3)]
    (root / "captions.json").write_text(json.dumps(cases))
    save_file({k: v.float().contiguous() for k, v in out.items()}, root / "golden.safetensors")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

#!/usr/bin/env python3
"""A BLIP-2 of the real widths (tower 1408, Q-Former 768, OPT 2560; vocabulary 50304, 224 pixels) and few layers, random weights, for the
checks of gomlxmodels/blip2.

    python tools/pyref/blip2_real.py FOLDER

saves the model (1.6 GB, float16 shards) with golden.safetensors (pixels [2,3,224,224], vision.pooled, qformer, step.logits [step,2,V] of
the greedy captions, before any setting) and captions.json, as blip2.py does, with the least margin between the two likeliest tokens of
each picture's greedy steps. Torch computes in float32.

Versions: torch 2.15.0, transformers 5.23.0, safetensors, Python 3.11+. Seed 20230131.
"""

import json
import pathlib
import sys

import torch
from safetensors.torch import save_file
from transformers import Blip2Config, Blip2ForConditionalGeneration

from blip2 import features, write

SEED = 20230131


def main(root):
    root.mkdir(parents=True, exist_ok=True)
    g = torch.Generator().manual_seed(SEED)
    opt = dict(model_type="opt", vocab_size=50304, hidden_size=2560, ffn_dim=10240, num_hidden_layers=2, num_attention_heads=32, word_embed_proj_dim=2560, eos_token_id=50118)
    model = Blip2ForConditionalGeneration(Blip2Config(vision_config=dict(num_hidden_layers=3), qformer_config=dict(num_hidden_layers=4), text_config=opt, image_token_index=50265)).eval()
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim > 1:
                p.normal_(0, 0.06 if "embed" in name and "patch" not in name or "query_tokens" in name else 1.2 * p[0].numel() ** -0.5, generator=g)
            else:
                p.add_(torch.randn(p.shape, generator=g) * 0.05)
        model.language_model.model.decoder.embed_positions.weight.mul_(6)
        model.language_model.model.decoder.embed_tokens.weight[50118] *= 1.25
        model.language_model.tie_weights()
    model.half().save_pretrained(root, max_shard_size="500MB")
    model.float()
    out = {"pixels": torch.randn(2, 3, 224, 224, generator=g) * 2}
    features(model, out["pixels"], out)
    cases = []
    for settings, prompt in [({}, []), (dict(num_beams=3, num_return_sequences=2), [102, 1345, 9]), (dict(repetition_penalty=1.4, min_new_tokens=5), [45641])]:
        settings["max_new_tokens"] = 10
        grouped, steps = write(model, out["pixels"], prompt, **settings)
        if not cases:
            out["step.logits"] = steps
            top = steps.topk(2).values
            print("least margins of greedy steps:", (top[..., 0] - top[..., 1]).min(0).values.tolist())
        cases += [dict(settings=settings, prompt=prompt, picture=i, tokens=[t for t, _ in c], scores=None if c[0][1] is None else [s for _, s in c]) for i, c in enumerate(grouped)]
    print("captions of", [len(t) for c in cases for t in c["tokens"]], "tokens")
    (root / "captions.json").write_text(json.dumps(cases))
    save_file({k: v.float().contiguous() for k, v in out.items()}, root / "golden.safetensors")


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

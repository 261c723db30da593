#!/usr/bin/env python3
"""Goldens for gomlxmodels/textgen: the probabilities that transformers draws a text's next token with, under settings of generate.

    python tools/pyref/decode.py gomlxmodels/textgen/testdata

The processors of logits, and their order, are those that generate puts together for the settings. Versions: torch 2.15.0, transformers
5.23.0, Python 3.11+. Seed 20191113.
"""

import json
import pathlib
import sys

import torch
from transformers import GenerationConfig, OPTConfig, OPTForCausalLM
from transformers.generation import LogitsProcessorList

VOCAB = 60
PROMPT = [2, 7, 7, 30, 11]
SETTINGS = [
    dict(),
    dict(temperature=0.5),
    dict(temperature=2.5, top_k=9),
    dict(top_p=0.6),
    dict(top_k=20, top_p=0.8, temperature=1.7),
    dict(repetition_penalty=1.8),
    dict(repetition_penalty=0.6, top_k=12),
    dict(min_new_tokens=3, eos_token_id=5),
    dict(min_new_tokens=3, eos_token_id=[5, 9, 30]),
    dict(min_new_tokens=2, eos_token_id=[5, 9]),
    dict(min_new_tokens=3, eos_token_id=[5, 9], repetition_penalty=1.5, temperature=1.4, top_k=25, top_p=0.9),
]


def main(root):
    g = torch.Generator().manual_seed(20191113)
    model = OPTForCausalLM(OPTConfig(vocab_size=VOCAB, hidden_size=8, ffn_dim=8, num_hidden_layers=1, num_attention_heads=1, max_position_embeddings=32))
    logits = torch.randn(VOCAB, generator=g) * 2
    logits[[5, 7, 9]] += 2  # ends, and a token that stands in the prompt, are likely
    written = [9, 41]  # after the prompt
    cases = []
    for s in SETTINGS:
        c = GenerationConfig(**{"do_sample": True, "top_k": 0, "eos_token_id": 5, "pad_token_id": 1, "max_new_tokens": 8, **s})
        model._prepare_special_tokens(c, device="cpu")
        processors = model._get_logits_processor(generation_config=c, input_ids_seq_length=len(PROMPT), encoder_input_ids=torch.tensor([PROMPT]),
                                                 prefix_allowed_tokens_fn=None, logits_processor=LogitsProcessorList(), device="cpu")
        scores = processors(torch.tensor([PROMPT + written]), logits[None].clone())
        print(s, [type(p).__name__ for p in processors])
        cases.append(dict(settings=s, probabilities=[float(f"{p:.9g}") for p in scores.double().softmax(-1)[0].tolist()]))
    lines = ",\n  ".join(json.dumps(c) for c in cases)
    values = json.dumps([float(f"{x:.9g}") for x in logits.tolist()])
    (root / "draw.json").write_text(f'{{"logits": {values},\n "prompt": {PROMPT}, "written": {written},\n "cases": [\n  {lines}\n]}}\n')


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

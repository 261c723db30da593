#!/usr/bin/env python3
"""What transformers' BertTokenizer makes of the texts in texts.txt with the tokenizer's files in tokenizer/.

    go test ./gomlxmodels/archipelago/blip -run Tokenizer -update
    python gomlxmodels/archipelago/blip/testdata/reference.py

Writes tokens.txt: a line for each text, its tokens, then the text they give again without special tokens. Both inputs are removed:
the test makes them itself. tokenizer.json must give the same tokens as vocab.txt alone. Versions: transformers 5.23.0.
"""

import json
import pathlib
import shutil

from transformers import AutoTokenizer, BertTokenizer

here = pathlib.Path(__file__).parent
tokenizer = AutoTokenizer.from_pretrained(here / "tokenizer")
assert type(tokenizer) is BertTokenizer, type(tokenizer)
words = [line.rstrip("\n") for line in open(here / "tokenizer" / "vocab.txt", encoding="utf-8")]
settings = json.loads((here / "tokenizer" / "tokenizer_config.json").read_text())
plain = BertTokenizer(vocab={w: i for i, w in enumerate(words)}, **{k: v for k, v in settings.items() if k.endswith("_token") or k == "additional_special_tokens"})
lines = []
for text in (here / "texts.txt").read_text(encoding="utf-8").split("\n")[:-1]:
    ids = tokenizer(text).input_ids
    assert ids == plain(text).input_ids, text
    lines.append(" ".join(map(str, ids)) + "|" + tokenizer.decode(ids, skip_special_tokens=True))
(here / "tokens.txt").write_text("\n".join(lines) + "\n", encoding="utf-8")
shutil.rmtree(here / "tokenizer")
(here / "texts.txt").unlink()
print(len(lines), lines[0], lines[-1], len(words))

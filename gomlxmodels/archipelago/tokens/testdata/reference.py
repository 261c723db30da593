#!/usr/bin/env python3
"""What transformers makes of texts with the Archipelago's tokenizer.

    python gomlxmodels/archipelago/tokens/testdata/reference.py FOLDER TEXTS.json > IDS.json

FOLDER holds the files that package tokens writes; TEXTS.json a list. Printed are the lists of ids, one a text, as JSON: the same from
tokenizer.json and from vocab.json with merges.txt, with CLIPTokenizer and with AutoTokenizer. Version: transformers 5.23.0.
"""

import json
import pathlib
import shutil
import sys
import tempfile

from transformers import AutoTokenizer, CLIPTokenizer

folder = pathlib.Path(sys.argv[1])
texts = json.loads(pathlib.Path(sys.argv[2]).read_text())
with tempfile.TemporaryDirectory() as bare:
    for name in ("vocab.json", "merges.txt", "tokenizer_config.json", "special_tokens_map.json"):
        shutil.copy(folder / name, bare)
    answers = [kind.from_pretrained(where)(texts)["input_ids"] for kind in (CLIPTokenizer, AutoTokenizer) for where in (folder, bare)]
t = CLIPTokenizer.from_pretrained(folder)
assert all(a == answers[0] for a in answers[1:])
assert len(t) == t.eos_token_id + 1 and t.bos_token_id == t.eos_token_id - 1 and t.pad_token_id == t.eos_token_id
assert t("a", padding="max_length", truncation=True)["input_ids"].count(t.eos_token_id) == t.model_max_length - 2
json.dump(answers[0], sys.stdout, separators=(",", ":"))

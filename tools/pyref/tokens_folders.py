#!/usr/bin/env python3
"""Goldens for gomlxmodels/tokenizers: what AutoTokenizer makes of the tokenizers of tokens.py where other keys are in their
files, or files are missing. Changes of a file are its top keys, null = the key goes; null in place of a file: the file goes.

    python tools/pyref/tokens_folders.py gomlxmodels/tokenizers/testdata

Versions: transformers 5.24.0, tokenizers 0.23.3, Python 3.11.
"""

import json
import pathlib
import sys
import tempfile
import zipfile

from transformers import AutoTokenizer

TEXTS = ["Über the house, ABC 東京 <mask>  a", "a [MASK]  b</s> UBER newtoken house house"]
NAMED = dict(bos_token="<s>", eos_token="</s>", unk_token="<unk>", sep_token="</s>", cls_token="<s>", pad_token="<pad>", mask_token="<mask>")
CONFIG = "tokenizer_config.json"
token = lambda content, **kw: dict(content=content, lstrip=False, rstrip=False, single_word=False, normalized=False, special=True) | kw
padding = dict(strategy="BatchLongest", direction="Left", pad_to_multiple_of=None, pad_id=2, pad_type_id=0, pad_token="</s>")
truncation = dict(direction="Left", max_length=9, strategy="LongestFirst", stride=0)
plain = {"type": "BertNormalizer", "clean_text": True, "handle_chinese_chars": True, "strip_accents": None, "lowercase": False}

FOLDERS = [
    # the class by config.json
    *(("roberta-old", {CONFIG: None, "config.json": c, "special_tokens_map.json": NAMED}) for c in (dict(model_type="roberta"), dict(model_type="bart"), dict(model_type="gpt2"), dict(model_type="gpt2", tokenizer_class="RobertaTokenizerFast"))),
    ("roberta-old", {CONFIG: dict(tokenizer_class="BartTokenizer")}),
    *(("mpnet-vocab", {CONFIG: None, "config.json": dict(model_type=m)}) for m in ("mpnet",)),
    # tokenizer_config.json before tokenizer.json
    *(("bert", {CONFIG: c}) for c in (dict(do_lower_case=False), dict(strip_accents=False), dict(tokenize_chinese_chars=False), dict(do_lower_case=False, tokenizer_class="DistilBertTokenizer"))),
    ("bert", {CONFIG: dict(do_lower_case=None), "tokenizer.json": dict(normalizer=plain)}),
    ("bert", {CONFIG: None, "config.json": dict(model_type="bert"), "tokenizer.json": dict(normalizer=plain)}),
    ("bert", {CONFIG: dict(tokenizer_class="PreTrainedTokenizerFast"), "tokenizer.json": dict(normalizer=plain)}),
    ("mpnet", {CONFIG: dict(do_lower_case=False)}),
    *(("roberta", {CONFIG: c}) for c in (dict(add_prefix_space=False), dict(tokenizer_class="GPT2Tokenizer", add_prefix_space=None))),
    # added tokens
    ("roberta", {CONFIG: dict(added_tokens_decoder={"4": token("<mask>", rstrip=True, lstrip=True)})}),
    ("mpnet", {CONFIG: dict(added_tokens_decoder={"4": token("<mask>")})}),
    ("unigram-old", {CONFIG: dict(added_tokens_decoder={"632": token("<mask>", rstrip=True)})}),
    # truncation and padding
    *((name, {"tokenizer.json": dict(truncation=truncation, padding=padding), CONFIG: c}) for name in ("roberta", "unigram-old") for c in ({}, dict(truncation_side="right", padding_side="right", model_max_length=12))),
    *(("bert", {CONFIG: c}) for c in (dict(model_max_length=None, max_len=11), dict(max_len=11), dict(model_max_length=None))),
    # start and end
    *(("opt", {CONFIG: c}) for c in (dict(add_eos_token=True), dict(add_bos_token=False, add_eos_token=True))),
    ("roberta", {CONFIG: dict(tokenizer_class="GPT2Tokenizer", add_bos_token=False, add_eos_token=True)}),
    # Metaspace
    *(("unigram-old", {"tokenizer.json": dict(pre_tokenizer={"type": "Metaspace", "replacement": "▁", **kw})}) for kw in ({}, dict(add_prefix_space=True))),
]


def main(root):
    out = []
    for base, files in FOLDERS:
        with tempfile.TemporaryDirectory() as d:
            d = pathlib.Path(d)
            with zipfile.ZipFile(root / f"{base}.zip") as z:
                z.extractall(d, [n for n in z.namelist() if n not in ("ids.txt", "cut.txt", "decoded.json")])
            for name, keys in files.items():
                if keys is None:
                    (d / name).unlink()
                    continue
                all_ = json.loads((d / name).read_text()) if (d / name).exists() else {}
                (d / name).write_text(json.dumps({k: v for k, v in (all_ | keys).items() if v is not None}))
            t = AutoTokenizer.from_pretrained(d)
            ids = [t(text).input_ids for text in TEXTS] + [t(TEXTS[0], truncation=True, max_length=6).input_ids]
            limit = t.model_max_length if t.model_max_length < 1 << 30 else 0
            out.append(dict(base=base, files=files, ids=ids, limit=limit, left=t.padding_side == "left", pad=t.pad_token_id if t.pad_token else -1))
    rows = ",\n".join(json.dumps(row, ensure_ascii=False) for row in out)
    (root / "folders.json").write_text(f'{{"texts": {json.dumps(TEXTS, ensure_ascii=False)}, "folders": [\n{rows}]}}\n')


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

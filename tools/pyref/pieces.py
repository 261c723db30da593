#!/usr/bin/env python3
"""Goldens for SentencePiece models in gomlxmodels/tokenizers: models trained here, with the ids of the 2,000 lines of tokens.py by
three readers: "slow" is transformers 4's XLMRobertaTokenizer, which runs SentencePiece itself; "converted" is what transformers 4
converts the model to, XLMRobertaTokenizerFast; "five" is the class of transformers 5.

    python tools/pyref/pieces.py gomlxmodels/tokenizers/testdata PYTHON4     PYTHON4 = an interpreter with transformers 4

Writes pieces.zip (normalization nmt_nfkc, as XLM-R) and pieces-user.zip (none; with user-defined and control pieces): the model,
ids.txt, cut.txt and decoded.json of "converted" as tokens.py writes them, and slow.txt and five.txt, the lines that differ from it.
pieces-user.zip has converted.json too: the tokenizer.json that transformers 4 saves.

Versions: transformers 4.57.6 with tokenizers 0.22.2; transformers 5.23.0 with tokenizers 0.23.3; sentencepiece 0.2.3, Python 3.11+.
Seed 20180819. Training does not give the same vocabulary each time, so each golden holds its own model.
"""

import io
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import zipfile

from tokens import CUT, SCRIPTS, SEED, lines
from transformers import AutoTokenizer

CONFIG = dict(tokenizer_class="XLMRobertaTokenizer", model_max_length=77, clean_up_tokenization_spaces=False)


def train(path, **options):
    import sentencepiece

    rng = random.Random(SEED)
    words = [s.split() for s in SCRIPTS]
    corpus = SCRIPTS * 2 + [" ".join(rng.choice(w) for _ in range(rng.randint(2, 9))) for w in words for _ in range(40)]
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(corpus), model_writer=model, model_type="unigram", hard_vocab_limit=False, character_coverage=0.995, num_threads=1, minloglevel=3, **options)
    path.write_bytes(model.getvalue())


def ids(folder, fast):
    """Of each line: ids, cut ids, and of every fifth the text with and without special tokens."""
    t = AutoTokenizer.from_pretrained(folder, use_fast=fast)
    out = []
    for i, raw in enumerate(lines()):
        text = raw.decode("utf-8", errors="replace")
        own = t(text).input_ids
        out.append([own, t(text, truncation=True, max_length=CUT).input_ids, [t.decode(own, skip_special_tokens=s) for s in (False, True)] if i % 5 == 0 else None])
    return type(t).__name__, out


def four(folder, out):
    """Runs in transformers 4."""
    result = {name: ids(folder, name == "converted") for name in ("slow", "converted")}
    AutoTokenizer.from_pretrained(folder).save_pretrained(out)
    (out / "ids.json").write_text(json.dumps(result))


def golden(out, python, keep, **options):
    with tempfile.TemporaryDirectory() as folder, tempfile.TemporaryDirectory() as other:
        folder, other = pathlib.Path(folder), pathlib.Path(other)
        train(folder / "sentencepiece.bpe.model", **options)
        (folder / "tokenizer_config.json").write_text(json.dumps(CONFIG))
        subprocess.run([python, __file__, "--four", folder, other], check=True)
        result = json.loads((other / "ids.json").read_text())
        result["five"] = ids(folder, True)
        row = lambda x: " ".join(map(str, x))
        want = result["converted"][1]
        with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
            put = lambda name, text: z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED, 9)
            for p in sorted(folder.iterdir()):
                put(p.name, p.read_bytes())
            if keep:
                put("converted.json", (other / "tokenizer.json").read_bytes())
            put("ids.txt", "".join(row(x[0]) + "\n" for x in want))
            put("cut.txt", "".join(row(x[1]) + "\n" for x in want))
            put("decoded.json", json.dumps([{"line": i, "keep": x[2][0], "skip": x[2][1]} for i, x in enumerate(want) if x[2]], ensure_ascii=False))
            for name in ("slow", "five"):
                differ = [f"{i}: {row(x[0])}\n" for i, (x, w) in enumerate(zip(result[name][1], want)) if x[0] != w[0]]
                put(name + ".txt", "".join(differ))
                print(name, result[name][0], len(differ), "of", len(want), "lines differ")
        print(out.name, out.stat().st_size, (folder / "sentencepiece.bpe.model").stat().st_size, result["converted"][0])


def main(root, python):
    golden(root / "pieces.zip", python, False, vocab_size=1400, normalization_rule_name="nmt_nfkc")
    golden(root / "pieces-user.zip", python, True, vocab_size=700, normalization_rule_name="identity", user_defined_symbols=["house", "小房子", "<x>"], control_symbols=["<lang>"])


if __name__ == "__main__":
    if sys.argv[1] == "--four":
        four(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    else:
        main(pathlib.Path(sys.argv[1]), sys.argv[2])

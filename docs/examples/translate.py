#!/usr/bin/env python3
"""A table of translations of prompts (id, language, text, source) by a translation model such as NLLB:
    translate.py prompts.csv translations.csv --languages hin_Deva,tam_Taml --model facebook/nllb-200-distilled-600M
prompts.csv has the columns id and caption (English). A second run continues: it translates what the table lacks."""
import argparse, csv, os
import torch
from transformers import AutoModelForSeq2SeqLM, AutoTokenizer

parser = argparse.ArgumentParser()
parser.add_argument("prompts")
parser.add_argument("table")
parser.add_argument("--languages", required=True, help="codes of the model, separated by commas")
parser.add_argument("--model", required=True, help="name on the hub, or folder")
parser.add_argument("--english", default="eng_Latn", help="the model's code of English")
parser.add_argument("--batch", type=int, default=16)
args = parser.parse_args()

prompts = list(csv.DictReader(open(args.prompts, encoding="utf-8", newline="")))
done = set()
if os.path.exists(args.table):
    done = {(r["id"], r["language"]) for r in csv.DictReader(open(args.table, encoding="utf-8", newline=""))}
device = "cuda" if torch.cuda.is_available() else "cpu"
tokenizer = AutoTokenizer.from_pretrained(args.model, src_lang=args.english)
model = AutoModelForSeq2SeqLM.from_pretrained(args.model).to(device).eval()
with open(args.table, "a", encoding="utf-8", newline="") as file:
    out = csv.writer(file, lineterminator="\n")
    if file.tell() == 0:
        out.writerow(["id", "language", "text", "source"])
    for language in args.languages.split(","):
        token = tokenizer.convert_tokens_to_ids(language)
        if token == tokenizer.unk_token_id:
            raise SystemExit(f"{args.model} has no language {language}")
        todo = [p for p in prompts if (p["id"], language) not in done]
        for start in range(0, len(todo), args.batch):
            batch = todo[start:start + args.batch]
            inputs = tokenizer([p["caption"] for p in batch], return_tensors="pt", padding=True).to(device)
            with torch.inference_mode():
                ids = model.generate(**inputs, forced_bos_token_id=token, num_beams=4, max_new_tokens=200)
            for prompt, text in zip(batch, tokenizer.batch_decode(ids, skip_special_tokens=True)):
                out.writerow([prompt["id"], language, text, args.model])
            file.flush()

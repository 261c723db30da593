#!/usr/bin/env python3
"""AltDiffusion pipelines of shapes drawn from SEED, as altdiffusion.py makes its goldens, with pictures of 20 steps.

    python tools/pyref/altdiffusion_fresh.py DIR SEED

Writes DIR/NAME/ for two, nine (with a safety checker) and plain (padding on the left, attended), pieces2 and pieces9 (whose tokenizer
is a SentencePiece model alone, and whose weights are .bin, as the published folders'): the folder as diffusers saves it, golden.safetensors, and reference.safetensors with the pictures of each prompt of prompts.csv for the seeds 11 and 12. Run by:
go test -tags checks -run Fresh ./gomlxmodels/diffusion ./gomlxmodels/stage/generate
"""

import csv
import json
import pathlib
import random
import shutil
import sys

import torch
from altdiffusion import GUIDANCE, TEXTS, alt_text, checker, cosines, decided, load, open_thresholds, pipeline, save, tokenizer
from diffusers import DDIMScheduler, DPMSolverMultistepScheduler, EulerDiscreteScheduler, PNDMScheduler
from diffusion import CROSS, LADDER, PLAIN, golden, sampled, unet, vae
from pieces import CONFIG, train
from safetensors.torch import load_file, save_file
from transformers import XLMRobertaTokenizer

SCHEDULERS = [PNDMScheduler, DDIMScheduler, EulerDiscreteScheduler, DPMSolverMultistepScheduler]


def pieces(folder, length):
    """A tokenizer of a SentencePiece model trained here. Its ids of TEXTS are those of SentencePiece itself."""
    import sentencepiece

    folder.mkdir()
    train(folder / "sentencepiece.bpe.model", vocab_size=700, normalization_rule_name="nmt_nfkc")
    (folder / "tokenizer_config.json").write_text(json.dumps({**CONFIG, "model_max_length": length}))
    t = XLMRobertaTokenizer.from_pretrained(folder)
    model = sentencepiece.SentencePieceProcessor(model_file=str(folder / "sentencepiece.bpe.model"))
    for text in TEXTS:
        if "<" not in text:
            assert t(text).input_ids == [0] + [i + 1 if i else 3 for i in model.encode(text)] + [2], text
    return t


def draw(folder, rng):
    name = folder.name
    heads, groups, length = rng.choice([1, 2, 4]), rng.choice([2, 4]), rng.choice([16, 40, 77])
    widths = tuple(groups * heads * rng.choice([1, 2]) * 2 for _ in range(rng.randint(2, 3)))
    kinds = [CROSS] + [rng.choice([CROSS, PLAIN]) for _ in widths[1:]]
    texts = dict(hidden_size=heads * 12, intermediate_size=rng.randint(20, 60), num_attention_heads=heads, num_hidden_layers=rng.randint(1, 4), project_dim=4 * rng.randint(2, 6),
                 max_position_embeddings=length + rng.randint(2, 9), hidden_act=rng.choice(["gelu", "relu"]), has_pre_transformation="9" in name or name == "nine", use_attention_mask=name != "plain")
    g = torch.Generator().manual_seed(rng.randrange(1 << 30))
    own = folder / "own"  # the tokenizer's files as they are published
    tok = pieces(own, length) if name.startswith("pieces") else tokenizer(length, "left" if name == "plain" else "right")
    scheduler = DDIMScheduler(**LADDER)
    kind = rng.choice(SCHEDULERS)
    scheduler = kind.from_config(scheduler.config, **({"skip_prk_steps": True} if kind is PNDMScheduler else {}))
    pipe = pipeline(unet(widths, kinds, layers_per_block=1, cross_attention_dim=texts["project_dim"], attention_head_dim=heads, norm_num_groups=groups, sample_size=6),
                    vae((groups, 2 * groups), layers_per_block=1, norm_num_groups=groups, scaling_factor=0.5), texts, tok, scheduler, g, checker(g) if name == "nine" else None)
    if name == "nine":
        open_thresholds(pipe.safety_checker)
    pipe.save_pretrained(folder)
    if own.exists():
        shutil.rmtree(folder / "tokenizer")
        own.rename(folder / "tokenizer")
        for path in list(folder.glob("*/*.safetensors")):
            torch.save(load_file(path), path.with_name(path.name.replace("model.safetensors", "model.bin") if "diffusion" in path.name else "pytorch_model.bin"))
            path.unlink()
    pipe = load(folder)
    out = golden(pipe, g, (rng.randint(1, 7), rng.randint(2, 7)), alt_text)
    save(out, folder)
    reference, size = {}, (16, 24)
    for i, text in enumerate(TEXTS):
        reference[f"image_{i}"] = sampled(pipe, size, seeds=(11, 12), guidance=GUIDANCE, prompt=text)
    if name == "nine":  # one threshold, in the widest gap of the middle, blocks about half of them
        pictures = [im.round().numpy().astype("uint8") for images in reference.values() for im in images]
        k = 3 + rng.randrange(17)
        v = cosines(pipe, pictures)[1][:, k].sort().values[2:-2]
        at = int((v[1:] - v[:-1]).argmax())
        pipe.safety_checker.concept_embeds_weights.data[k - 3] = float(v[at] + v[at + 1]) / 2
        pipe.safety_checker.save_pretrained(folder / "safety_checker")
        reference["blocked"] = decided(pipe, pictures).amax(1)
    save_file({k: v.float().contiguous() for k, v in reference.items()}, folder / "reference.safetensors")
    print(name, kind.__name__, length, widths, json.dumps(texts), "contrast", out["unet.out"].std().item(), [round(float(v.std())) for k, v in reference.items() if k.startswith("image")],
          reference.get("blocked"))


def main(root, seed):
    root, rng = pathlib.Path(root), random.Random(int(seed))
    for name in ("two", "nine", "plain", "pieces2", "pieces9"):
        (root / name).mkdir(parents=True)
        draw(root / name, rng)
    with open(root / "prompts.csv", "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows([["id", "prompt"], *[[f"p{i}", t] for i, t in enumerate(TEXTS)]])


if __name__ == "__main__":
    main(*sys.argv[1:])

#!/usr/bin/env python3
"""Goldens for gomlxmodels/blip and gomlxmodels/textgen: small random BLIP captioners, saved as transformers saves them (one as the hub's
first BLIP folders are), with what every stage gives and with what generate makes of pictures.

    python tools/pyref/blip.py gomlxmodels/blip/testdata

Versions: torch 2.15.0, transformers 5.23.0, safetensors, Pillow 13.0.0, Python 3.11+. Seed 20220128 (per configuration: + its number).
Torch runs on one thread in float32. Captions that float64 would write otherwise (a near tie decides) are left out and counted.
"""

import json
import pathlib
import shutil
import sys

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import BertTokenizer, BlipConfig, BlipForConditionalGeneration, BlipImageProcessor

torch.set_num_threads(1)
SEED = 20220128
END = 5  # [SEP]

# settings of generate, all with at most 14 new tokens
SETTINGS = [
    dict(),
    dict(max_new_tokens=5),
    dict(repetition_penalty=1.3),
    dict(min_new_tokens=6),
    dict(min_new_tokens=3, repetition_penalty=0.8),
    dict(num_beams=2),
    dict(num_beams=3, num_return_sequences=3),
    dict(num_beams=4, length_penalty=2.0, num_return_sequences=2),
    dict(num_beams=4, length_penalty=-1.0),
    dict(num_beams=3, length_penalty=0.0, early_stopping="never", num_return_sequences=3),
    dict(num_beams=5, early_stopping=True, num_return_sequences=5),
    dict(num_beams=3, length_penalty=1.5, early_stopping="never", min_new_tokens=4),
    dict(num_beams=2, repetition_penalty=1.5, min_new_tokens=2, num_return_sequences=2),
    dict(num_beams=6, max_new_tokens=4, num_return_sequences=6),
]


def shake(model, generator):
    """Random values in every parameter, none at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            wide = p.ndim >= 2 and "embeddings.weight" not in name or "patch_embedding.weight" in name
            p.normal_(0, p[0].numel() ** -0.5 * 1.5 if wide else 0.7 if p.ndim >= 2 else 0.1, generator=generator)
            if "position_embeddings" in name:
                p.mul_(3)
            if ("norm" in name or "LayerNorm" in name) and name.endswith("weight"):
                p.add_(1)
    return model.eval()


def lift(model, generator):
    """Raises the end's bias until a good half of greedy captions end."""
    side = model.config.vision_config.image_size
    pixels = torch.randn(24, 3, side, side, generator=generator) * 2
    for _ in range(80):
        ended = sum(c[0][0][-1] == END for c in write(model, pixels, [])[0])
        if ended >= 14:
            break
        with torch.no_grad():
            model.text_decoder.cls.predictions.decoder.bias[END] += 0.1


def config(text=None, vision=None, **kw):
    small = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    t = dict(small, vocab_size=98, max_position_embeddings=40, bos_token_id=96, eos_token_id=2, pad_token_id=0, sep_token_id=END)
    v = dict(small, image_size=32, patch_size=8)
    return BlipConfig(text_config={**t, **(text or {})}, vision_config={**v, **(vision or {})}, **kw)


def stages(model, pixels, ids):
    out, hooks = {}, []

    def keep(name, module):
        def hook(_, __, result):
            out[name] = result[0] if isinstance(result, tuple) else result

        hooks.append(module.register_forward_hook(hook))

    keep("vision.embedded", model.vision_model.embeddings)
    for i, layer in enumerate(model.vision_model.encoder.layers):
        keep(f"vision.block_{i}", layer)
    keep("text.embedded", model.text_decoder.bert.embeddings)
    for i, layer in enumerate(model.text_decoder.bert.encoder.layer):
        keep(f"text.block_{i}", layer)
    with torch.inference_mode():
        whole = model(pixel_values=pixels, input_ids=ids)
    for h in hooks:
        h.remove()
    out["vision.tokens"], out["text.logits"] = whole.last_hidden_state, whole.logits
    return out


def write(model, pixels, prompt, **kw):
    """Captions of each picture: tokens after the prompt, the end included, and the scores of beams."""
    ids = torch.tensor([[1, *prompt, END]] * len(pixels))  # generate puts the start token first and drops the last
    many = kw.get("num_return_sequences", 1)
    with torch.inference_mode():
        out = model.generate(pixel_values=pixels, input_ids=ids, do_sample=False, return_dict_in_generate=True, output_logits=True, output_scores=True, **{"max_new_tokens": 14, **kw})
    rows = []
    for row in out.sequences[:, 1 + len(prompt) :].tolist():
        if END in row:
            row = row[: row.index(END) + 1]
        rows.append(row)
    scores = getattr(out, "sequences_scores", None)
    scores = [None] * len(rows) if scores is None else [round(s, 6) for s in scores.tolist()]
    grouped = [list(zip(rows[i : i + many], scores[i : i + many])) for i in range(0, len(rows), many)]
    return grouped, out.logits


def captions(model, pixels, prompts):
    cases, dropped = [], 0
    exact = BlipForConditionalGeneration(model.config).eval()
    exact.load_state_dict(model.state_dict())
    exact.double()
    for s in SETTINGS:
        for p in prompts:
            a, _ = write(model, pixels, p, **s)
            b, _ = write(exact, pixels.double(), p, **s)
            for picture, (x, y) in enumerate(zip(a, b)):
                if [t for t, _ in x] != [t for t, _ in y]:
                    dropped += 1
                    continue
                cases.append(dict(settings=s, prompt=p, picture=picture, tokens=[t for t, _ in x], scores=None if x[0][1] is None else [v for _, v in x]))
    return cases, dropped


def golden(model, generator, folder, prompts, words=None):
    side = model.config.vision_config.image_size
    pixels = torch.randn(6, 3, side, side, generator=generator) * 2
    ids = torch.randint(6, 95, (2, 11), generator=generator)
    ids[:, 0] = 96
    out = stages(model, pixels[:2], ids)
    _, steps = write(model, pixels, prompts[0])
    out["step.logits"] = torch.stack(steps)  # [step,picture,V], greedy
    out["pixels"], out["ids"] = pixels, ids
    cases, dropped = captions(model, pixels, prompts)
    ended = sum(t[-1] == END for c in cases for t in c["tokens"])
    print(f"{folder.name}: {len(cases)} cases, {dropped} dropped, {ended} of {sum(len(c['tokens']) for c in cases)} captions end, {len({json.dumps(c['tokens']) for c in cases})} differ")
    lines = ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases)
    (folder / "captions.json").write_text("[\n" + lines + "\n]\n")
    if words:
        text(model, generator, folder, words, out)
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def text(model, generator, folder, words, out):
    """A picture of bytes to a caption of words."""
    width, height = 53, 40
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    image = torch.stack([(x * 5 + y * 3) % 256, (x * y) % 256, torch.randint(0, 256, (height, width), generator=generator)], -1)
    out["picture"] = image
    processor = BlipImageProcessor.from_pretrained(folder)
    tokenizer = BertTokenizer.from_pretrained(folder)
    out["processed"] = processor(Image.fromarray(image.to(torch.uint8).numpy()), return_tensors="pt").pixel_values[0]
    lines = []
    for prefix in ("", "a picture of"):
        kw = dict(input_ids=tokenizer(prefix, return_tensors="pt").input_ids) if prefix else {}
        with torch.inference_mode():
            ids = model.generate(pixel_values=out["processed"][None], do_sample=False, max_new_tokens=9, **kw)
        lines.append(dict(prefix=prefix, text=tokenizer.batch_decode(ids, skip_special_tokens=True)[0], ids=ids[0].tolist()))
    (folder / "texts.json").write_text(json.dumps(lines, indent=1))


WORDS = """[PAD] [unused0] [unused1] [UNK] [CLS] [SEP] [MASK] a of in the on and with picture photo man woman child house sea boat tree street dog cat horse red
blue green white black small large old young two three sitting standing walking near by table food rice bread cup hat dress sari drum song market temple
river hill road car bus train bird fish flower sun rain night day . , ' - ##s ##ing ##ed ##er ##ly ##est ##man ##y wall door window bed chair lamp book
hand face eye hair""".split()


def main(root):
    root = pathlib.Path(root)
    number = 0

    def start(name):
        nonlocal number
        number += 1
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder, torch.Generator().manual_seed(SEED + number)

    # the base layout: towers of one width; a tokenizer and a preprocessor
    folder, g = start("base")
    m = shake(BlipForConditionalGeneration(config()), g)
    lift(m, g)
    m.save_pretrained(folder)
    words = (WORDS + ["word%d" % i for i in range(99)])[:96]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    BertTokenizer(vocab=str(folder / "vocab.txt")).save_pretrained(folder)
    BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    golden(m, g, folder, [[], [7, 14, 8], [20, 9]], words)

    # the large layout: a wider vision tower of other depth; other activations, epsilons and heads; a patch that does not divide the picture
    folder, g = start("large")
    m = shake(BlipForConditionalGeneration(config(text=dict(hidden_size=24, intermediate_size=40, num_attention_heads=3, num_hidden_layers=1, hidden_act="gelu_new", layer_norm_eps=1e-5),
                                                  vision=dict(hidden_size=40, num_hidden_layers=3, num_attention_heads=5, image_size=30, patch_size=7, hidden_act="quick_gelu", layer_norm_eps=1e-6))), g)
    lift(m, g)
    m.save_pretrained(folder)
    golden(m, g, folder, [[], [33, 34, 35, 36, 37]])

    # a head of its own, in bfloat16 shards; one head of attention
    folder, g = start("own-head-bf16")
    m = BlipForConditionalGeneration(config(text=dict(num_attention_heads=1, tie_word_embeddings=False), vision=dict(num_hidden_layers=1, image_size=16), tie_word_embeddings=False))
    lift(shake(m, g), g)
    m = m.to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="60KB")
    m = BlipForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    golden(m, g, folder, [[], [50]])

    # the hub's first BLIP folders: stored position ids, head and bias twice, settings that today's configuration lacks
    folder, g = start("old-hub")
    m = shake(BlipForConditionalGeneration(config(text=dict(num_hidden_layers=3, intermediate_size=64), vision=dict(num_attention_heads=2))), g)
    lift(m, g)
    m.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    head = "text_decoder.cls.predictions."
    tensors[head + "decoder.weight"] = tensors["text_decoder.bert.embeddings.word_embeddings.weight"].clone()
    tensors[head + "decoder.bias"] = tensors[head + "bias"].clone()
    tensors["text_decoder.bert.embeddings.position_ids"] = torch.arange(40)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    c = json.loads((folder / "config.json").read_text())
    c["text_config"].update(encoder_hidden_size=768, num_beams=1, max_length=20, no_repeat_ngram_size=0)
    c["vision_config"].update(num_channels=3, dropout=0.0)
    (folder / "config.json").write_text(json.dumps(c, indent=2))
    golden(m, g, folder, [[], [61, 62]])

    print(json.dumps({str(p.relative_to(root)): sum(f.stat().st_size for f in p.iterdir()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

#!/usr/bin/env python3
"""Goldens for gomlxmodels/owlv2: small random OWLv2 models, with what every stage gives.

    python tools/pyref/owlv2.py gomlxmodels/owlv2/testdata

Versions: torch 2.15.0, torchvision 0.29.2, transformers 5.23.0, tokenizers 0.23.3, safetensors, numpy, Python 3.11+. Torch runs on one
thread in float32.

A folder holds config.json, the processor's and the tokenizer's files as transformers saves them, and instead of the weights
tensors.json, from which both sides compute them as groundingdino.py says. Images are computed too (image there).

golden.safetensors has per case N the stages N.pixels (every third row and column) … N.boxes; cases.json has the cases' images, texts,
tokens, and the boxes above two thresholds. A seed with a score too near to a threshold is replaced by the next: float noise must not
decide. So is one that finds nothing for one of a caption's first two texts.
"""

import json
import math
import pathlib
import shutil
import sys
import tempfile

import torch
from groundingdino import image, value
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import CLIPTokenizer, Owlv2Config, Owlv2ForObjectDetection, Owlv2ImageProcessor, Owlv2Processor

torch.set_num_threads(1)


def spread(name, shape):
    """Mean and deviation of a parameter: none keeps a start value that hides a mistake."""
    last = name.rsplit(".", 1)[-1]
    if "norm" in name:
        return (1.0, 0.3) if last == "weight" else (0.0, 0.3)
    if name.endswith("logit_scale") or len(shape) < 2:
        return 0.0, 0.3
    if "embedding" in name and "patch" not in name:
        return 0.0, 1.0 if "token" in name else 0.5
    return 0.0, 1.4 * math.prod(shape[1:]) ** -0.5


def tokenizer(context):
    """All bytes, and a few merges. Number 0 is the padding, as in the published models."""
    from tokenizers.pre_tokenizers import ByteLevel

    letters = sorted(ByteLevel.alphabet())
    merges = [("c", "a"), ("ca", "t</w>"), ("d", "o"), ("do", "g</w>"), ("o", "f</w>"), ("p", "h"), ("ph", "o"), ("pho", "t"), ("phot", "o</w>"), ("r", "e"), ("re", "d</w>")]
    names = letters + [c + "</w>" for c in letters] + [a + b for a, b in merges] + ["<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={n: i for i, n in enumerate(names)}, merges=merges, pad_token="!", model_max_length=context)


def config(text=None, vision=None, **kw):
    small = dict(hidden_size=32, intermediate_size=40, num_hidden_layers=2, num_attention_heads=4)
    t = {**small, "vocab_size": 525, "max_position_embeddings": 16, "bos_token_id": 523, "eos_token_id": 524, **(text or {})}
    v = {**small, "image_size": 48, "patch_size": 8, **(vision or {})}
    return Owlv2Config(text_config=t, vision_config=v, projection_dim=t["hidden_size"], **kw)


def build(cfg, seed):
    """The model of a seed and the list of its tensors, named as in a file that transformers writes."""
    with tempfile.TemporaryDirectory() as folder:
        Owlv2ForObjectDetection(cfg).save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        listed, tensors = {}, {}
        for name, t in sorted(load_file(path).items()):
            mean, deviation = spread(name, t.shape)
            listed[name] = [list(t.shape), mean, deviation]
            numbers = mean + value(name, seed, t.numel()) * (deviation * math.sqrt(3))
            tensors[name] = torch.tensor(numbers, dtype=torch.float64).to(torch.float32).reshape(t.shape)
        save_file(tensors, path, metadata={"format": "pt"})
        model, report = Owlv2ForObjectDetection.from_pretrained(folder, output_loading_info=True)
        assert not any(report[k] for k in report), report
        return model.eval(), listed


def stages(model, inputs):
    out, hooks = {}, []

    def keep(name, module):
        hooks.append(module.register_forward_hook(lambda _, __, r: out.__setitem__(name, r[0] if isinstance(r, tuple) else r)))

    vision = model.owlv2.vision_model
    keep("embedded", vision.pre_layernorm)
    for i, layer in enumerate(vision.encoder.layers):
        keep(f"block_{i}", layer)
    keep("shifts", model.class_head.logit_shift)
    with torch.inference_mode():
        whole = model(**inputs)
    for h in hooks:
        h.remove()
    out["shifts"] = out["shifts"][..., 0]
    out["features"] = whole.image_embeds.flatten(1, 2)
    out["classes"], out["texts"], out["logits"], out["boxes"] = whole.class_embeds, whole.text_embeds, whole.logits, whole.pred_boxes
    return {k: v[0] for k, v in out.items()}, whole


def thresholds(scores):
    """Two thresholds that no score is within 1e-4 of."""
    v = scores.sort()[0]

    def between(share):
        at = int(len(v) * share)
        i = max(range(at - 4, at + 4), key=lambda i: v[i + 1] - v[i])
        assert v[i + 1] - v[i] > 2e-4, (v, i)
        return round(float(v[i] + v[i + 1]) / 2, 6)

    return [between(0.4), between(0.8)]


def run(processor, model, width, height, texts, first, search):
    picture = Image.fromarray(image(width, height))
    inputs = processor(images=picture, text=[texts], return_tensors="pt")
    kept, whole = stages(model, inputs)
    ids = [row[: int(mask.sum())].tolist() for row, mask in zip(inputs.input_ids, inputs.attention_mask)]
    case = dict(width=width, height=height, texts=texts, ids=ids, found=[])
    for threshold in thresholds(whole.logits.max(-1)[0].sigmoid()[0]) if search else []:
        r = processor.post_process_grounded_object_detection(whole, threshold=threshold, target_sizes=[(height, width)], text_labels=[texts])[0]
        patches = (whole.logits.max(-1)[0].sigmoid()[0] > threshold).nonzero()[:, 0]
        assert len(texts) == 1 or min(r["text_labels"].count(t) for t in set(texts[:2])) > 1, "labels"
        case["found"].append(dict(threshold=threshold, patches=patches.tolist(), scores=r["scores"].tolist(), boxes=r["boxes"].tolist(), labels=r["text_labels"]))
    kept["pixels"] = inputs.pixel_values[0, :, ::3, ::3]
    if not first:
        kept = {k: v for k, v in kept.items() if k in ("pixels", "texts", "logits", "boxes")}
    return kept, case


def save(path, cfg, processor, model, cases, search=True):
    out, written = {}, []
    for n, (width, height, texts) in enumerate(cases):
        kept, case = run(processor, model, width, height, texts, n == 0, search)
        out.update({f"{n}.{k}": v for k, v in kept.items()})
        written.append(case)
    cfg.save_pretrained(path)
    (path / "cases.json").write_text(json.dumps(written))
    save_file({k: v.float().contiguous() for k, v in out.items()}, path / "golden.safetensors")


def folder(root, name, cfg, cases, **kw):
    path = root / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    side = cfg.vision_config.image_size
    processor = Owlv2Processor(Owlv2ImageProcessor(size={"height": side, "width": side}, **kw), tokenizer(cfg.text_config.max_position_embeddings))
    processor.save_pretrained(path)
    for seed in range(1, 100):
        model, listed = build(cfg, seed)
        try:
            save(path, cfg, processor, model, cases)
            break
        except AssertionError as e:
            print(name, "seed", seed, str(e)[:40])
    (path / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
    print(name, "seed", seed, {f.name: f.stat().st_size for f in sorted(path.iterdir())})


def main(root):
    root = pathlib.Path(root)
    # wider than high and shrunk, higher than wide and enlarged, an image of the model's own size; a text of 16 tokens
    folder(root, "quick-gelu", config(), [(70, 53, ["a photo of a cat", "dog", "Crème brûlée", "a photo of a cat and a big red dog"]), (23, 41, ["", "red dog"]), (48, 48, ["cat"])])
    # a patch that leaves a rest, towers of different width, and other values for everything
    folder(root, "gelu-odd-patch", config(dict(hidden_size=24, num_attention_heads=3, num_hidden_layers=3, hidden_act="gelu", layer_norm_eps=1e-6, max_position_embeddings=20),
                                          dict(image_size=51, patch_size=7, hidden_act="gelu", layer_norm_eps=1e-3, num_attention_heads=2)),
           [(33, 90, ["a photo of a red dog ÿ", "the", "cat dog", "cat"]), (50, 20, ["photo of a dog"])], image_mean=[0.5, 0.4, 0.3], image_std=[0.2, 0.3, 0.4])
    # a kernel of eleven weights, one block, a wide tower
    folder(root, "wide", config(dict(num_hidden_layers=1, num_attention_heads=1, max_position_embeddings=9, hidden_act="gelu_new"),
                                dict(image_size=36, patch_size=6, hidden_size=48, num_hidden_layers=1, intermediate_size=20, hidden_act="relu")),
           [(210, 131, ["cat", "dog"]), (37, 140, ["dog", "red cat", "photo"])])


if __name__ == "__main__":
    main(sys.argv[1])

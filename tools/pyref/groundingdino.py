#!/usr/bin/env python3
"""Goldens for gomlxmodels/groundingdino: small random GroundingDINO models, with what every stage gives.

    python tools/pyref/groundingdino.py gomlxmodels/groundingdino/testdata

Versions: torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, safetensors, numpy, Python 3.11+. Torch runs on one thread in float32.

A folder holds config.json, the processor's and the tokenizer's files as transformers saves them, and instead of the weights
tensors.json: their names as transformers writes them, each with shape, mean and deviation. Both sides compute the values from the
names (value below), so that megabytes need not be stored. Images are computed too (image below).

golden.safetensors of a folder has the stages of its first case, as N.stage those of the further ones; cases.json has the cases'
images, captions, thresholds and boxes; texts.json (of one folder) captions with their tokens, phrases and positions; sizes.json sizes
by both rules. A seed whose scores are too near to each other, or to a threshold, is replaced by the next: float noise must not decide.
"""

import json
import math
import pathlib
import re
import shutil
import sys
import tempfile

import numpy as np
import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import BertTokenizer, GroundingDinoConfig, GroundingDinoForObjectDetection, GroundingDinoImageProcessor, GroundingDinoProcessor
from transformers.image_transforms import get_size_with_aspect_ratio
from transformers.models.grounding_dino import modeling_grounding_dino as source

torch.set_num_threads(1)
MASK = (1 << 64) - 1


def value(name, seed, count):
    """count numbers between -1 and 1: SplitMix64 from the FNV-1a hash of the name."""
    h = 0xCBF29CE484222325
    for byte in f"{seed}/{name}".encode():
        h = (h ^ byte) * 0x100000001B3 & MASK
    with np.errstate(over="ignore"):
        z = np.uint64(h) + np.arange(1, count + 1, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    return (z >> np.uint64(11)).astype(np.float64) * 2.0**-52 - 1


def spread(name, shape):
    """Mean and deviation of a parameter: none keeps a start value that hides a mistake."""
    last = name.rsplit(".", 1)[-1]
    if "norm" in name.lower().rsplit(".", 2)[-2] or "hidden_states_norms" in name or re.search(r"input_proj_vision\.\d+\.1\.", name):
        return (1.0, 0.3) if last == "weight" else (0.0, 0.3)
    if name.endswith("sampling_offsets.bias"):
        return 0.0, 1.5
    if name.endswith("_param"):
        return 0.4, 0.4
    if "relative_position_bias_table" in name or "embeddings." in name and "patch" not in name or "embed" in last:
        return 0.0, 0.5
    if "query_position_embeddings" in name:
        return 0.0, 0.7
    if last == "bias":
        return 0.0, 0.2
    fan = math.prod(shape[1:])
    return 0.0, 1.3 * fan**-0.5


def image(width, height):
    y, x = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    return np.stack([(x * 5 + y * 3) % 256, x * y % 256, (x * x + 7 * y) % 251], -1).astype(np.uint8)


def vocabulary():
    words = ["[PAD]"] + [f"[unused{i}]" for i in range(1, 1100)]
    words[100:104] = ["[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    words[1012], words[1029] = ".", "?"
    rest = list("abcdefghijklmnopqrstuvwxyz,!-'0123456789") + ["##" + c for c in "abcdefghijklmnopqrstuvwxyz0123456789"]
    rest += "cat dog remote control the red car person".split()
    at = 1030
    for w in rest:
        if at == len(words):
            words.append("")
        words[at] = w
        at += 1
    return {w: i for i, w in enumerate(words)}


def config(backbone=None, text=None, **kw):
    b = dict(model_type="swin", embed_dim=8, depths=[2, 2, 1, 2], num_heads=[1, 2, 2, 4], window_size=4, mlp_ratio=2.0, out_indices=[2, 3, 4], image_size=64)
    t = dict(model_type="bert", hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, vocab_size=len(vocabulary()), max_position_embeddings=64)
    d = dict(d_model=64, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=8, encoder_ffn_dim=96, decoder_ffn_dim=80, encoder_n_points=3,
             decoder_n_points=2, num_queries=12, max_text_len=48)
    return GroundingDinoConfig(backbone_config={**b, **(backbone or {})}, text_config={**t, **(text or {})}, **{**d, **kw})


def build(cfg, seed):
    """The model of a seed and the list of its tensors, named as in a file that transformers writes."""
    with tempfile.TemporaryDirectory() as folder:
        GroundingDinoForObjectDetection(cfg).save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        listed, tensors = {}, {}
        for name, t in sorted(load_file(path).items()):
            mean, deviation = spread(name, t.shape)
            listed[name] = [list(t.shape), mean, deviation]
            numbers = mean + value(name, seed, t.numel()) * (deviation * math.sqrt(3))
            tensors[name] = torch.tensor(numbers, dtype=torch.float64).to(torch.float32).reshape(t.shape)
        save_file(tensors, path, metadata={"format": "pt"})
        model, report = GroundingDinoForObjectDetection.from_pretrained(folder, output_loading_info=True)
        assert not any(report[k] for k in report), report
        return model.eval(), listed


def stages(model, pixels, ids):
    out, hooks, calls = {}, [], {}

    def keep(name, module, pick=lambda r: r[0] if isinstance(r, tuple) else r):
        hooks.append(module.register_forward_hook(lambda _, __, result: out.__setitem__(name, pick(result))))

    m = model.model
    swin = m.backbone.conv_encoder.model.swin
    keep("patches", swin.embeddings)
    number = 0
    for s, stage in enumerate(swin.encoder.layers):
        for block in stage.blocks:
            keep(f"block_{number}", block)
            number += 1
        if stage.downsample is not None:
            keep(f"merged_{s + 1}", stage.downsample)
    maps = []
    hooks.append(m.backbone.conv_encoder.model.register_forward_hook(lambda _, __, r: maps.extend(r.feature_maps)))
    keep("text.bert", m.text_backbone, lambda r: r.last_hidden_state)
    keep("text", m.text_projection)
    levels = []
    for level in m.input_proj_vision:
        hooks.append(level.register_forward_hook(lambda _, __, r: levels.append(r.flatten(2).transpose(1, 2))))
    hooks.append(m.encoder.register_forward_pre_hook(lambda _, __, kw: out.__setitem__("positions", kw["vision_position_embedding"]), with_kwargs=True))
    for i, layer in enumerate(m.encoder.layers):
        hooks.append(layer.fusion_layer.register_forward_hook(lambda _, __, r, i=i: out.update({f"encoder_{i}.fused_vision": r[0][0], f"encoder_{i}.fused_text": r[1][0]})))
        keep(f"encoder_{i}.text", layer.text_enhancer_layer)
        keep(f"encoder_{i}.sampled", layer.deformable_layer.self_attn)
        keep(f"encoder_{i}.vision", layer.deformable_layer)
    heads = []
    hooks.append(m.decoder.reference_points_head.register_forward_hook(lambda _, __, r: heads.append(r)))
    for i, layer in enumerate(m.decoder.layers):
        keep(f"decoder_{i}.self", layer.self_attn_layer_norm)
        keep(f"decoder_{i}.text", layer.encoder_attn_text_layer_norm)
        keep(f"decoder_{i}.image", layer.encoder_attn_layer_norm)
        keep(f"decoder_{i}.states", layer.final_layer_norm)
    with torch.inference_mode():
        whole = model(pixel_values=pixels, input_ids=ids)
    for h in hooks:
        h.remove()
    for i, x in enumerate(maps):
        out[f"map_{i}"] = x.permute(0, 2, 3, 1)
    out["levels"] = torch.cat(levels, 1)
    for i, x in enumerate(heads):
        out[f"decoder_{i}.positions"] = x
        out[f"decoder_{i}.references"] = whole.intermediate_reference_points[:, i]
    out["scores"] = whole.enc_outputs_class.max(-1)[0]
    out["references"] = whole.init_reference_points
    out["logits"], out["boxes"] = whole.logits[..., : ids.shape[1]], whole.pred_boxes
    return {k: v.float().contiguous() for k, v in out.items()}, whole


def clear(scores, count):
    """No two of the kept ranks, and not the last kept and the first left, are nearer than 1e-3 of the range."""
    s = scores[0].sort(descending=True)[0]
    gaps = (s[:count] - s[1 : count + 1]).min()
    return gaps >= 1e-3 * (s[0] - s[-1])


def thresholds(whole):
    """A threshold between boxes and one between tokens, near the middle, that nothing is within 1e-3 of."""
    p = whole.logits.sigmoid()
    boxes, tokens = p.max(-1)[0][0].sort()[0], p.flatten().sort()[0]
    tokens = tokens[tokens > 0]

    def between(v, share):
        at = int(len(v) * share)
        i = max(range(at - len(v) // 8 - 1, at + len(v) // 8 + 1), key=lambda i: v[i + 1] - v[i])
        assert v[i + 1] - v[i] > 2e-3, (v, i)
        return round(float(v[i] + v[i + 1]) / 2, 5)

    return [(between(boxes, 0.5), between(tokens, 0.7)), (between(boxes, 0.75), between(tokens, 0.4))]


def folder(root, name, cfg, cases, size, whole_stages=True, tie_free=True, first=1):
    """A golden folder with the weights of the first good seed from first on. Returns the processor and the model."""
    path = root / name
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    processor = GroundingDinoProcessor(GroundingDinoImageProcessor(size=size), BertTokenizer(vocab=vocabulary(), do_lower_case=True))
    processor.save_pretrained(path)
    for seed in range(first, first + 100):
        model, listed = build(cfg, seed)
        out, written = {}, []
        try:
            for n, (width, height, text) in enumerate(cases):
                inputs = processor(images=Image.fromarray(image(width, height)), text=text, return_tensors="pt")
                kept, whole = stages(model, inputs.pixel_values, inputs.input_ids)
                assert not tie_free or clear(kept["scores"], cfg.num_queries), "ties"
                case = dict(width=width, height=height, text=text, pixels=list(inputs.pixel_values.shape[2:]), ids=inputs.input_ids[0].tolist(), found=[])
                for box, token in thresholds(whole) if tie_free else []:
                    r = processor.post_process_grounded_object_detection(whole, threshold=box, text_threshold=token, target_sizes=[(height, width)])[0]
                    case["found"].append(dict(box=box, token=token, scores=r["scores"].tolist(), boxes=r["boxes"].tolist(), labels=r["text_labels"]))
                written.append(case)
                if n == 0:
                    out["pixels"] = inputs.pixel_values[0, :, ::7, ::5]
                full = whole_stages and n == 0
                out.update({(f"{n}." if n else "") + k: v[0] for k, v in kept.items() if full or k in ("scores", "references", "logits", "boxes")})
            if not tie_free:  # the other implementation's bounds of the inverse logistic function
                usual = source.torch.special.logit
                source.torch.special.logit = lambda x, eps=None: torch.log(x.clamp(min=1e-3) / (1 - x).clamp(min=1e-3))
                kept, _ = stages(model, inputs.pixel_values, inputs.input_ids)
                source.torch.special.logit = usual
                out["langsam.logits"], out["langsam.boxes"] = kept["logits"][0], kept["boxes"][0]
            break
        except AssertionError as e:
            print(name, "seed", seed, str(e)[:40])
    cfg.save_pretrained(path)
    (path / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
    (path / "cases.json").write_text(json.dumps(written))
    save_file({k: v.float().contiguous() for k, v in out.items()}, path / "golden.safetensors")
    print(name, "seed", seed, {f.name: f.stat().st_size for f in sorted(path.iterdir())})
    return processor, model


TEXTS = ["a cat. a remote control.", "a cat", "cat", "is it a dog? a red car.", "a cat . . dog.", ".", "", "a dog's car, red. person", "Crème brûlée. Ärger.", "??", "cat. dog",
         "the red car person cat dog remote control."]


def texts(tokenizer):
    list_ = []
    for text in TEXTS:
        ids = tokenizer(text, return_tensors="pt").input_ids
        mask, positions = source.generate_masks_with_special_tokens_and_transfer_map(ids, torch.tensor(source.SPECIAL_TOKENS))
        list_.append(dict(text=text, ids=ids[0].tolist(), positions=positions[0].tolist(), mask=mask[0].int().tolist()))
    return list_


def original(width, height, size=800, longest=1333):
    """RandomResize of IDEA-Research/GroundingDINO, groundingdino/datasets/transforms.py."""
    low, high = float(min(width, height)), float(max(width, height))
    if high / low * size > longest:
        size = int(round(longest * low / high))
    if (width <= height and width == size) or (height <= width and height == size):
        return height, width
    if width < height:
        return int(size * height / width), size
    return size, int(size * width / height)


def main(root):
    root = pathlib.Path(root)
    two = {"shortest_edge": 38, "longest_edge": 66}
    p, _ = folder(root, "shared", config(), [(70, 53, "a cat. a remote control."), (40, 111, "dog"), (90, 60, "red car")], two)
    (root / "shared" / "texts.json").write_text(json.dumps(texts(p.tokenizer), ensure_ascii=False))
    folder(root, "apart-window7", config(dict(window_size=7, depths=[1, 2, 2, 1], num_heads=[2, 1, 4, 8], qkv_bias=True, layer_norm_eps=1e-3), decoder_bbox_embed_share=False,
                                         encoder_layers=1, decoder_layers=3, decoder_attention_heads=4, encoder_n_points=2, decoder_n_points=3, activation_function="gelu",
                                         positional_embedding_temperature=30, layer_norm_eps=1e-4),
           [(57, 99, "a dog? cat."), (160, 71, "the red car person cat dog.")], two)
    folder(root, "five-levels", config(dict(depths=[1, 1, 1, 1], window_size=5, qkv_bias=False, hidden_act="relu"), dict(hidden_act="relu"), num_feature_levels=5, encoder_layers=1,
                                       decoder_layers=2, d_model=96, encoder_attention_heads=6, decoder_attention_heads=3, encoder_ffn_dim=60),
           [(61, 70, "cat."), (200, 50, "person. red dog")], two)
    folder(root, "many", config(dict(depths=[1, 1, 1, 1]), encoder_layers=1, decoder_layers=2, num_queries=900), [(420, 100, "a cat. a dog.")],
           {"shortest_edge": 100, "longest_edge": 420}, whole_stages=False, tie_free=False)
    sizes = [(640, 480), (1920, 1080), (1000, 563), (640, 427), (2000, 100), (600, 1334), (800, 800), (480, 640), (33, 1000), (1333, 800)]
    rng = np.random.default_rng(1)
    sizes += [tuple(int(v) for v in rng.integers(20, 3000, 2)) for _ in range(500)]
    (root / "sizes.json").write_text(json.dumps([[w, h, *original(w, h), *get_size_with_aspect_ratio((h, w), 800, 1333)] for w, h in sizes], separators=(",", ":")))


if __name__ == "__main__":
    main(sys.argv[1])

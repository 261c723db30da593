#!/usr/bin/env python3
"""Goldens for gomlxmodels/clip: small random CLIP and SigLIP models, saved as transformers saves them (and one as the hub's first CLIP
folders are), with what every stage of both towers gives.

    python tools/pyref/clip.py gomlxmodels/clip/testdata

Versions: torch 2.15.0, transformers 5.24.0, open_clip 3.3.0, safetensors, Python 3.11+. Seed 20210226 (per configuration: + its number).
Torch runs on one thread in float32.
"""

import json
import pathlib
import shutil
import sys
import types

import open_clip
from open_clip.push_to_hf_hub import save_for_hf
import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import CLIPConfig, CLIPImageProcessor, CLIPModel, PreTrainedTokenizerFast, SiglipConfig, SiglipImageProcessor, SiglipModel

torch.set_num_threads(1)
SEED = 20210226
SENTENCES = ["a cat", "", "cats on the sea on the sea on the sea by night", "Ŝ"]


def cleaned(folder):
    """Texts as open_clip cleans them before its own tokenizer, and before one of transformers."""
    from open_clip.tokenizer import get_clean_fn

    texts = ["Tom &amp;amp; Jerry&#39;s", "a  “quoted”\tﬁsh \n", "ΟΔΟΣ İ ＡＢＣ\u0085", "<b>&lt;3</b> &amp;amp;lt;", "A\u0301\x1b[1m b\u200b\ufeff"]
    (folder / "cleaned.json").write_text(json.dumps({t: [get_clean_fn("lower")(t), get_clean_fn("whitespace")(t)] for t in texts}, indent=1))


def shake(model, generator):
    """Random values in every parameter, so that none is at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            wide = p.ndim >= 2 and "embedding.weight" not in name or "patch_embedding" in name
            p.normal_(0, p[0].numel() ** -0.5 * 1.5 if wide else 0.3, generator=generator)
            if "norm" in name and name.endswith("weight"):
                p.add_(1)
        model.logit_scale.fill_(1.7)
    return model.eval()


def config(text=None, vision=None, **kw):
    small = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    t = dict(small, vocab_size=64, max_position_embeddings=12, bos_token_id=62, eos_token_id=63, pad_token_id=63)
    v = dict(small, image_size=32, patch_size=8)
    return CLIPConfig(text_config={**t, **(text or {})}, vision_config={**v, **(vision or {})}, projection_dim=kw.pop("projection_dim", 24), **kw)


class OpenCLIP:
    """What golden needs of a CLIPModel, of open_clip's."""

    def __init__(self, m):
        self.m, v = m, m.visual
        out = lambda **kw: types.SimpleNamespace(**kw)
        part = lambda blocks, **kw: out(encoder=out(layers=blocks), **kw)
        pooled = []
        v.ln_post.register_forward_hook(lambda _, __, y: pooled.append(y[:, 0]))
        m.ln_final.register_forward_hook(lambda _, __, y: pooled.append(y))
        self.vision_model = types.SimpleNamespace(encoder=out(layers=v.transformer.resblocks), pre_layrnorm=v.ln_pre)
        self.text_model = types.SimpleNamespace(encoder=out(layers=m.transformer.resblocks))
        self.pooled = pooled
        self.config = out(vision_config=out(image_size=v.image_size[0]))

    def image(self, pixels):
        return self.m.encode_image(pixels), self.pooled.pop()

    def text(self, ids):
        projected = self.m.encode_text(ids)
        tokens = self.pooled.pop()
        return projected, tokens, tokens[torch.arange(len(ids)), ids.argmax(-1)]


def rows(length, vocab, end, pad, generator):
    """Three texts: an early end, an end at the last place, a start that is the end's neighbour."""
    ids = torch.randint(3, vocab - 2, (3, length), generator=generator)
    ids[ids == end] = 3
    for row, at in enumerate((2, length - 1, length // 2)):
        ids[row, at] = end
        ids[row, at + 1 :] = pad
    return ids


def golden(model, ids, generator, folder, picture):
    out = {}
    open_ = isinstance(model, OpenCLIP)
    hooks = []

    def keep(name, module):
        def hook(_, __, result):
            out[name] = result[0] if isinstance(result, tuple) else result

        hooks.append(module.register_forward_hook(hook))

    clip = isinstance(model, CLIPModel)
    keep("image.embedded", model.vision_model.pre_layrnorm if clip or open_ else model.vision_model.embeddings)
    if open_:
        hooks.append(model.text_model.encoder.layers[0].register_forward_pre_hook(lambda _, x: out.update({"text.embedded": x[0]})))
    else:
        keep("text.embedded", model.text_model.embeddings)
    for tower, part in (("image", model.vision_model), ("text", model.text_model)):
        for i, layer in enumerate(part.encoder.layers):
            keep(f"{tower}.block_{i}", layer)
    side = model.config.vision_config.image_size
    pixels = torch.randn(2, 3, side, side, generator=generator)
    with torch.inference_mode():
        if open_:
            out["image.projected"], out["image.pooled"] = model.image(pixels)
            out["text.projected"], out["text.norm"], out["text.pooled"] = model.text(ids)
            out["logits"] = model.m.get_logits(pixels, ids)[0]
            for h in hooks:
                h.remove()
            return finish(out, model, pixels, ids, generator, folder, picture)
        whole = model(input_ids=ids, pixel_values=pixels)
        for h in hooks:
            h.remove()
        out["text.norm"] = whole.text_model_output.last_hidden_state
        out["image.pooled"] = model.vision_model(pixels).pooler_output
        out["text.pooled"] = model.text_model(input_ids=ids).pooler_output if clip else out["text.norm"][:, -1]
        out["image.projected"] = model.get_image_features(pixels).pooler_output
        out["text.projected"] = model.get_text_features(ids).pooler_output
        out["logits"] = whole.logits_per_image
        if picture:
            width, height = picture
            y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            image = torch.stack([(x * 5 + y * 3) % 256, (x * y) % 256, torch.randint(0, 256, (height, width), generator=generator)], -1)
            out["picture"] = image
            processor = (CLIPImageProcessor if clip else SiglipImageProcessor).from_pretrained(folder)
            out["processed"] = processor(Image.fromarray(image.to(torch.uint8).numpy()), return_tensors="pt").pixel_values[0]
            if folder.name == "quickgelu-legacy-end":  # as cmmd-pytorch prepares images of one size
                square = torch.nn.functional.interpolate(image.permute(2, 0, 1)[None] / 255, size=(side, side), mode="bicubic")
                mean, std = (torch.tensor(v)[:, None, None] for v in (processor.image_mean, processor.image_std))
                out["cmmd"] = (square[0] - mean) / std
            out["picture.projected"] = model.get_image_features(out["processed"][None]).pooler_output[0]
    save(out, pixels, ids, folder)


def finish(out, model, pixels, ids, generator, folder, picture):
    """Of open_clip: an image through its transform."""
    image = torch.randint(0, 256, (picture[1], picture[0], 3), generator=generator)
    transform = open_clip.image_transform(16, is_train=False)
    out["picture"], out["processed"] = image, transform(Image.fromarray(image.to(torch.uint8).numpy()))
    out["picture.projected"] = model.image(out["processed"][None])[0][0]
    save(out, pixels, ids, folder)


def save(out, pixels, ids, folder):
    out["pixels"], out["ids"] = pixels, ids
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")


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

    def processor(folder, **kw):
        CLIPImageProcessor(**kw).save_pretrained(folder)

    # quick_gelu, the legacy end (id 2: the place of the highest id), padding 0
    folder, g = start("quickgelu-legacy-end")
    m = shake(CLIPModel(config(text=dict(eos_token_id=2))), g)
    m.save_pretrained(folder)
    processor(folder, size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32})
    golden(m, rows(12, 64, 63, 0, g), g, folder, (53, 40))

    # gelu, padding with the end token, a patch that does not divide the picture, towers of different width
    folder, g = start("gelu-odd-patch")
    m = shake(CLIPModel(config(text=dict(hidden_size=24, intermediate_size=40, num_hidden_layers=3, num_attention_heads=3, hidden_act="gelu", layer_norm_eps=1e-6),
                               vision=dict(image_size=31, patch_size=7, hidden_act="gelu", num_attention_heads=2), projection_dim=17)), g)
    m.save_pretrained(folder)
    golden(m, rows(12, 64, 63, 63, g), g, folder, None)

    # an end token with higher ids around it; tanh GELU in one tower; one head; a context of 5; a picture of one patch
    folder, g = start("inner-end")
    m = shake(CLIPModel(config(text=dict(eos_token_id=40, max_position_embeddings=5, num_attention_heads=1, hidden_act="gelu_new"),
                               vision=dict(image_size=12, patch_size=12, num_hidden_layers=1, hidden_size=16, intermediate_size=64, num_attention_heads=8))), g)
    m.save_pretrained(folder)
    ids = rows(5, 64, 40, 55, g)
    ids[2, 4] = 40  # a second end: the first counts
    golden(m, ids, g, folder, None)

    # bfloat16 in shards
    folder, g = start("bf16-shards")
    m = shake(CLIPModel(config(vision=dict(image_size=24, patch_size=6))), g).to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="40KB")
    golden(m.float(), rows(9, 64, 63, 1, g), g, folder, None)

    # the layout of the hub's first CLIP folders: stored position ids, settings in *_config_dict, sizes as numbers
    folder, g = start("old-hub")
    m = shake(CLIPModel(config(text=dict(hidden_size=16, num_hidden_layers=1), vision=dict(hidden_size=16, num_hidden_layers=1))), g)
    m.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["text_model.embeddings.position_ids"] = torch.arange(12)[None]
    tensors["vision_model.embeddings.position_ids"] = torch.arange(17)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    text = json.loads((folder / "config.json").read_text())
    for part in ("text_config", "vision_config"):
        text[part + "_dict"] = text[part]
        text[part] = {**text[part], "num_attention_heads": 2, "hidden_act": "gelu"}  # not what counts
    (folder / "config.json").write_text(json.dumps(text, indent=2))
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "crop_size": 32, "do_center_crop": True, "do_normalize": True, "do_resize": True, "feature_extractor_type": "CLIPFeatureExtractor",
        "image_mean": [0.48145466, 0.4578275, 0.40821073], "image_std": [0.26862954, 0.26130258, 0.27577711], "resample": 3, "size": 32}))
    again = CLIPModel.from_pretrained(folder).eval()
    assert again.config.text_config.num_attention_heads == 4 and again.config.vision_config.hidden_act == "quick_gelu"
    golden(again, rows(12, 64, 63, 63, g), g, folder, (40, 61))

    # SigLIP: towers of different width; the texts padded to 12 tokens
    folder, g = start("siglip")
    small = dict(num_hidden_layers=2, num_attention_heads=4)
    text = dict(small, hidden_size=12, intermediate_size=20, vocab_size=64, max_position_embeddings=12, projection_size=16)
    m = shake(SiglipModel(SiglipConfig(text_config=text, vision_config=dict(small, hidden_size=16, intermediate_size=24, image_size=16, patch_size=4))), g)
    m.save_pretrained(folder)
    SiglipImageProcessor(size={"height": 16, "width": 16}).save_pretrained(folder)
    pieces = [("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), *((p, -1.0 - i / 50) for i, p in enumerate("▁a ▁ca t s ▁on ▁the ▁se a ▁ c e n o".split()))]
    t = Tokenizer(models.Unigram(pieces, unk_id=2))
    t.pre_tokenizer = pre_tokenizers.Metaspace()
    t.post_processor = processors.TemplateProcessing(single="$A </s>", special_tokens=[("</s>", 1)])
    t = PreTrainedTokenizerFast(tokenizer_object=t, pad_token="</s>", eos_token="</s>", unk_token="<unk>", model_max_length=12)
    t.save_pretrained(folder)
    golden(m, t(SENTENCES, padding="max_length", truncation=True, return_tensors="pt").input_ids, g, folder, (31, 22))

    # open_clip's names, QuickGELU
    folder, g = start("open-clip")
    tower = dict(width=16, layers=2, mlp_ratio=1.5)
    config_ = dict(embed_dim=12, quick_gelu=True, vision_cfg=dict(tower, image_size=16, patch_size=4, head_width=8), text_cfg=dict(tower, context_length=12, vocab_size=64, heads=4))
    cleaned(folder)
    m = shake(open_clip.CLIP(**config_), g)
    m.visual.image_mean, m.visual.image_std = open_clip.OPENAI_DATASET_MEAN, open_clip.OPENAI_DATASET_STD
    save_for_hf(m, types.SimpleNamespace(save_pretrained=lambda _: None, tokenizer=types.SimpleNamespace(save_pretrained=lambda _: None)), config_, folder, safe_serialization=True)
    golden(OpenCLIP(m), rows(12, 64, 63, 0, g), g, folder, (31, 22))

    print(json.dumps({str(p.relative_to(root)): sum(f.stat().st_size for f in p.iterdir()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

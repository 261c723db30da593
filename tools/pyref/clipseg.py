#!/usr/bin/env python3
"""Goldens for gomlxmodels/clipseg: small random CLIPSeg models, saved as transformers saves them (and one as the hub's folders
are), with what every stage gives: the blocks of the image tower that are extracted, the prompt's vector, every layer of the
decoder, the logits; for a picture also the processor's pixels and the logits at the picture's own size.

    python tools/pyref/clipseg.py gomlxmodels/clipseg/testdata

Versions: torch 2.15.0, transformers 5.23.0, tokenizers 0.23.3, safetensors, Python 3.11+. Seed 20211218 (per configuration: + its number).
Torch runs on one thread in float32.
"""

import json
import pathlib
import shutil
import sys

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers.pre_tokenizers import ByteLevel
from transformers import CLIPSegConfig, CLIPSegForImageSegmentation, CLIPSegProcessor, CLIPTokenizer, ViTImageProcessor

torch.set_num_threads(1)
SEED = 20211218
MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]


def shake(model, generator):
    """Random values in every parameter, so that none is at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            wide = p.ndim >= 2 and "embedding.weight" not in name or "patch_embedding" in name
            fan = p.shape[0] if "transposed_convolution" in name and p.ndim == 4 else p[0].numel() if p.ndim else 1
            p.normal_(0, fan**-0.5 * 1.5 if wide else 0.3, generator=generator)
            if "norm" in name and name.endswith("weight"):
                p.add_(1)
    return model.eval()


def config(text=None, vision=None, **kw):
    small = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    t = dict(small, vocab_size=64, max_position_embeddings=12, bos_token_id=62, eos_token_id=63, pad_token_id=63)
    v = dict(small, image_size=32, patch_size=8)
    kw = dict(projection_dim=24, reduce_dim=16, decoder_num_attention_heads=4, decoder_intermediate_size=40, extract_layers=[0, 1]) | kw
    return CLIPSegConfig(text_config={**t, **(text or {})}, vision_config={**v, **(vision or {})}, **kw)


def golden(model, ids, side, generator, folder, picture=None):
    out = {}
    hooks = []

    def keep(name, module):
        hooks.append(module.register_forward_hook(lambda _, __, result: out.__setitem__(name, result[0] if isinstance(result, tuple) else result)))

    for i, layer in enumerate(model.clip.vision_model.encoder.layers):
        if i in model.config.extract_layers:
            keep(f"vision.block_{i}", layer)
    for i, layer in enumerate(model.decoder.layers):
        keep(f"decoder.reduce_{i}", model.decoder.reduces[i])
        keep(f"decoder.layer_{i}", layer)
    pixels = torch.randn(len(ids), 3, side, side, generator=generator)
    with torch.inference_mode():
        whole = model(input_ids=ids, pixel_values=pixels)
        for h in hooks:
            h.remove()
        out["conditional"], out["logits"] = whole.conditional_embeddings, whole.logits
        if picture:
            width, height = picture
            y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
            out["picture"] = image = torch.stack([(x * 5 + y * 3) % 256, (x * y) % 256, torch.randint(0, 256, (height, width), generator=generator)], -1)
            processor = ViTImageProcessor.from_pretrained(folder)
            out["processed"] = processor(Image.fromarray(image.to(torch.uint8).numpy()), return_tensors="pt").pixel_values[0]
            logits = model(input_ids=ids[:1], pixel_values=out["processed"][None]).logits.reshape(1, 1, *whole.logits.shape[1:])
            out["picture.logits"] = logits[0, 0]
            out["picture.large"] = torch.nn.functional.interpolate(logits, (height, width), mode="bilinear", align_corners=False)[0, 0]
    out["pixels"], out["ids"] = pixels, ids
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def rows(vocab, end, pad, generator, length=9):
    ids = torch.randint(3, vocab - 3, (2, length), generator=generator)
    for row, at in enumerate((2, length - 1)):
        ids[row, at] = end
        ids[row, at + 1 :] = pad
    return ids


def tokenizer():
    """A tokenizer of bytes, without a merge."""
    alphabet = sorted(ByteLevel.alphabet())
    words = alphabet + [a + "</w>" for a in alphabet] + ["<|startoftext|>", "<|endoftext|>"]
    return CLIPTokenizer(vocab={t: i for i, t in enumerate(words)}, merges=[])


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

    # as rd64-refined is: complex deconvolution, quick_gelu, positions enlarged to the pictures' size, the legacy end; a whole
    # folder with processor and tokenizer
    folder, g = start("refined")
    m = shake(CLIPSegForImageSegmentation(config(text=dict(vocab_size=514, eos_token_id=2, max_position_embeddings=40), vision=dict(num_hidden_layers=4),
                                                 extract_layers=[0, 1, 2], use_complex_transposed_convolution=True)), g)
    m.save_pretrained(folder)
    CLIPSegProcessor(ViTImageProcessor(size={"height": 48, "width": 48}, image_mean=MEAN, image_std=STD), tokenizer()).save_pretrained(folder)
    golden(m, rows(512, 513, 0, g), 48, g, folder, (61, 40))
    texts = ["a photo of a cat", "", "घर", "x" * 200]
    (folder / "ids.json").write_text(json.dumps({t: tokenizer()(t, truncation=True, max_length=40).input_ids for t in texts}))

    # simple deconvolution, gelu, positions as they are, layers extracted out of order, the prompt enters at the second layer
    folder, g = start("simple-gelu")
    m = shake(CLIPSegForImageSegmentation(config(text=dict(hidden_act="gelu", num_hidden_layers=1, hidden_size=24, num_attention_heads=3),
                                                 vision=dict(image_size=24, patch_size=6, hidden_act="gelu", num_hidden_layers=3, num_attention_heads=2),
                                                 reduce_dim=12, decoder_num_attention_heads=3, extract_layers=[2, 0, 1], conditional_layer=1, projection_dim=17)), g)
    m.save_pretrained(folder)
    golden(m, rows(64, 63, 63, g), 24, g, folder)

    # a patch that four does not divide, nor it the picture; positions made fewer; one extracted layer; another epsilon
    folder, g = start("odd-patch-fewer-positions")
    m = shake(CLIPSegForImageSegmentation(config(text=dict(eos_token_id=40, hidden_act="gelu_new"), vision=dict(image_size=54, patch_size=9, layer_norm_eps=1e-3, hidden_act="relu"),
                                                 reduce_dim=10, decoder_num_attention_heads=2, extract_layers=[1], use_complex_transposed_convolution=True)), g)
    m.save_pretrained(folder)
    ViTImageProcessor(size={"height": 40, "width": 40}, resample=3).save_pretrained(folder)
    golden(m, rows(64, 40, 55, g), 40, g, folder, (33, 70))

    # bfloat16 in shards
    folder, g = start("bf16-shards")
    m = shake(CLIPSegForImageSegmentation(config()), g).to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="40KB")
    golden(m.float(), rows(64, 63, 1, g), 32, g, folder)

    # the layout of the hub's folders: stored position ids, settings in *_config_dict, the size as a number
    folder, g = start("old-hub")
    m = shake(CLIPSegForImageSegmentation(config(text=dict(hidden_size=16, num_hidden_layers=1), vision=dict(hidden_size=16, num_attention_heads=2))), g)
    m.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["clip.text_model.embeddings.position_ids"] = torch.arange(12)[None]
    tensors["clip.vision_model.embeddings.position_ids"] = torch.arange(17)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    text = json.loads((folder / "config.json").read_text())
    for part in ("text_config", "vision_config"):
        text[part + "_dict"] = text[part]
        text[part] = {**text[part], "hidden_act": "gelu"}  # not what counts
    (folder / "config.json").write_text(json.dumps(text, indent=2))
    (folder / "preprocessor_config.json").write_text(json.dumps({
        "do_normalize": True, "do_resize": True, "feature_extractor_type": "ViTFeatureExtractor", "image_mean": MEAN, "image_std": STD, "resample": 2, "size": 40}))
    again = CLIPSegForImageSegmentation.from_pretrained(folder).eval()
    assert again.config.vision_config.hidden_act == "quick_gelu"
    golden(again, rows(64, 63, 63, g), 40, g, folder, (50, 31))

    print(json.dumps({p.name: {f.name: f.stat().st_size for f in p.iterdir()} for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

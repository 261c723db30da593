#!/usr/bin/env python3
"""Goldens for gomlxmodels/sam: small random SAM models, saved as transformers saves them, with what every stage gives for
pictures and boxes: the processor's pixels, each block of the image encoder, the neck, positions, corners, tokens and keys of
every two-way layer, the upscaled map, logits, IoU, and the logits at the picture's own size.

    python tools/pyref/sam.py gomlxmodels/sam/testdata

Versions: torch 2.15.0, torchvision 0.29.2, transformers 5.23.0, Pillow 13.0.0, safetensors, Python 3.11+. Seed 20230405 (per
configuration: + its number). Torch runs on one thread in float32.
"""

import json
import pathlib
import shutil
import sys

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from transformers import SamConfig, SamImageProcessor, SamModel, SamProcessor
from transformers.models.sam.image_processing_pil_sam import SamImageProcessorPil

torch.set_num_threads(1)
SEED = 20230405


def shake(model, generator):
    """Random values in every parameter: transformers starts position tables at 0, which hides mistakes."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            if "positional_embedding" in name:
                p.normal_(0, 1, generator=generator)
                continue
            wide = p.ndim >= 2 and "embed.weight" not in name and "point_embed" not in name and "token" not in name and "pos" not in name
            fan = p.shape[0] if "upscale_conv" in name and p.ndim == 4 else p[0].numel() if p.ndim else 1
            p.normal_(0, fan**-0.5 * 1.5 if wide else 0.5 if "pos" in name else 0.3, generator=generator)
            if "norm" in name and name.endswith("weight"):
                p.add_(1)
    return model.eval()


def picture(width, height, generator):
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([(x * 5 + y * 3) % 256, (x * y) % 256, torch.randint(0, 256, (height, width), generator=generator)], -1)


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def golden(model, folder, sizes, n, generator, stages=True, original=False):
    """n boxes in pictures of the sizes; stages of the first. original: the first also resized by Pillow, and with another epsilon
    in the norms of the decoder's layers, large enough to be seen."""
    out, hooks = {}, []

    def keep(name, module, get):
        hooks.append(module.register_forward_hook(lambda _, args, result: out.__setitem__(name, get(result))))

    if stages:
        layers = model.vision_encoder.layers
        hooks.append(layers[0].register_forward_pre_hook(lambda _, args: out.__setitem__("embedded", args[0])))
        for i, layer in enumerate(layers):
            keep(f"block_{i}", layer, lambda r: r[0] if isinstance(r, tuple) else r)
        keep("image", model.vision_encoder.neck, nhwc)
        keep("corners", model.prompt_encoder, lambda r: r[0][0])
        transformer = model.mask_decoder.transformer
        for i, layer in enumerate(transformer.layers):
            keep(f"tokens_{i}", layer, lambda r: r[0].flatten(0, 1))
            keep(f"keys_{i}", layer, lambda r: r[1].flatten(0, 1))
        keep("tokens", transformer, lambda r: r[0].flatten(0, 1))

        def squares(x):  # [N,C,4G,4G] → [N,G,G,2,2,C,2,2], as the transposed convolutions give it
            g = x.shape[-1] // 4
            return torch.nn.functional.gelu(x).reshape(*x.shape[:2], g, 2, 2, g, 2, 2).permute(0, 2, 5, 3, 6, 1, 4, 7)

        keep("upscaled", model.mask_decoder.upscale_conv2, squares)
        out["positions"] = nhwc(model.get_image_wide_positional_embeddings())
    processor = SamProcessor(SamImageProcessor.from_pretrained(folder))

    def run(name, processor, picture, boxes):
        inputs = processor(Image.fromarray(picture.to(torch.uint8).numpy()), input_boxes=[boxes.tolist()], return_tensors="pt")
        result = model(pixel_values=inputs.pixel_values, input_boxes=inputs.input_boxes.float(), multimask_output=False)
        out[name + "pixels"], out[name + "scaled"] = inputs.pixel_values, inputs.input_boxes[0]
        out[name + "logits"], out[name + "iou"] = result.pred_masks[0, :, 0], result.iou_scores[0, :, 0]
        if name == "original.":
            return
        large = processor.image_processor.post_process_masks(result.pred_masks, inputs.original_sizes, inputs.reshaped_input_sizes, binarize=False)
        out[name + "large"] = large[0][:, 0]

    with torch.inference_mode():
        for i, (width, height) in enumerate(sizes):
            image = picture(width, height, generator)
            whole = torch.tensor([width, height] * 2)
            corners = torch.rand(n, 2, 2, generator=generator).sort(1).values.flatten(1)
            boxes = (corners * 1.2 - 0.1) * whole  # some reach over the picture's border
            run(f"{i}.", processor, image, boxes)
            for h in hooks:
                h.remove()
            if i == 0 and original:
                norms = [getattr(layer, f"layer_norm{k}") for layer in model.mask_decoder.transformer.layers for k in range(1, 5)]
                for norm in norms:
                    norm.eps = 1e-2
                pil = SamImageProcessorPil(**{k: getattr(processor.image_processor, k) for k in ("size", "pad_size")})
                run("original.", SamProcessor(pil), image, boxes)
                for norm in norms:
                    norm.eps = model.config.mask_decoder_config.layer_norm_eps
            out[f"{i}.picture"], out[f"{i}.boxes"] = image, boxes
    half = lambda k, v: v.half() if k.endswith("picture") else v.float()  # whole numbers to 255 are exact in half
    save_file({k: half(k, v).contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def config(vision, decoder, width):
    v = dict(image_size=48, patch_size=6, output_channels=width, num_pos_feats=width // 2, window_size=3) | vision
    d = dict(hidden_size=width, mlp_dim=40, num_attention_heads=4, iou_head_hidden_dim=20) | decoder
    p = dict(hidden_size=width, image_size=v["image_size"], patch_size=v["patch_size"], mask_input_channels=4)
    return SamConfig(vision_config=v, prompt_encoder_config=p, mask_decoder_config=d)


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

    def processor(folder, longest, side):
        SamImageProcessor(size={"longest_edge": longest}, pad_size={"height": side, "width": side}).save_pretrained(folder)

    # windows that do not divide the map, one global block between them; landscape, portrait, and smaller than the logits
    folder, g = start("windows")
    m = shake(SamModel(config(dict(hidden_size=24, num_attention_heads=3, num_hidden_layers=3, global_attn_indexes=[1]), {}, 24)), g)
    m.save_pretrained(folder)
    processor(folder, 48, 48)
    golden(m, folder, [(61, 40), (30, 75), (21, 17)], 2, g, original=True)

    # everything else that a configuration can say; the longest edge is shorter than the padded side
    folder, g = start("other-shape")
    vision = dict(image_size=35, patch_size=5, hidden_size=16, num_attention_heads=2, num_hidden_layers=2, global_attn_indexes=[], window_size=4,
                  qkv_bias=False, mlp_dim=20, hidden_act="gelu_new", layer_norm_eps=1e-3)
    decoder = dict(num_hidden_layers=1, num_attention_heads=2, num_multimask_outputs=1, iou_head_depth=4,
                   iou_head_hidden_dim=12, hidden_act="gelu", layer_norm_eps=1e-3)
    m = shake(SamModel(config(vision, decoder, 16)), g)
    with torch.no_grad():  # what the norms with an epsilon of their own take is small, so that their epsilon is seen
        final, last = m.mask_decoder.transformer.final_attn_token_to_image.out_proj, m.mask_decoder.transformer.layers[-1].layer_norm3
        for layer in (m.vision_encoder.neck.conv1, m.vision_encoder.neck.conv2, m.mask_decoder.upscale_conv1, final, last):
            for p in layer.parameters():
                p.mul_(0.003)
    m.save_pretrained(folder)
    processor(folder, 30, 35)
    golden(m, folder, [(40, 33), (9, 50)], 3, g)

    # bfloat16 in shards, a window larger than the map, and the names that older versions wrote besides
    folder, g = start("bf16-shards")
    m = shake(SamModel(config(dict(image_size=30, hidden_size=8, num_attention_heads=1, num_hidden_layers=2, global_attn_indexes=[0], window_size=7),
                              dict(mlp_dim=24), 16)), g).to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="30KB")
    index = json.loads((folder / "model.safetensors.index.json").read_text())
    name = "shared_image_embedding.positional_embedding"
    file = folder / index["weight_map"][name]
    tensors = load_file(file)
    tensors["prompt_encoder.shared_embedding.positional_embedding"] = tensors[name].clone()
    index["weight_map"]["prompt_encoder.shared_embedding.positional_embedding"] = file.name
    save_file(tensors, file, metadata={"format": "pt"})
    (folder / "model.safetensors.index.json").write_text(json.dumps(index, indent=1))
    processor(folder, 30, 30)
    golden(m.float(), folder, [(26, 44)], 2, g)

    print(json.dumps({p.name: {f.name: f.stat().st_size for f in p.iterdir()} for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

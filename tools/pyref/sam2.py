#!/usr/bin/env python3
"""Goldens for gomlxmodels/sam2: small random SAM 2 models, with what every stage gives for images and boxes.

    python tools/pyref/sam2.py gomlxmodels/sam2/testdata

Versions: torch 2.15.0, torchvision 0.29.2, transformers 5.23.0, Pillow 13.0.0, safetensors, numpy, Python 3.11+. Torch runs on one
thread in float32.

A folder holds config.json and the processor's file as transformers saves them, and instead of the weights tensors.json: their names as
transformers writes them, each with shape, mean and deviation. Both sides compute the values from the names (value in groundingdino.py).
cases.json has the images' sizes; they are computed too (image there).

Where a configuration has the fallback, the seed is one with which some boxes get the first mask and some another. A seed is replaced
by the next where float noise could decide: a share nearer to the fallback's threshold than the logits within 1e-4 of its delta can
move it, two predicted IoU within 1e-3.
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
from transformers import Sam2Config, Sam2ImageProcessor, Sam2Model, Sam2Processor, Sam2VideoConfig, Sam2VideoModel

torch.set_num_threads(1)


def spread(name, shape):
    """Mean and deviation of a parameter: none keeps a start value that hides a mistake."""
    owner, last = name.rsplit(".", 2)[-2:] if "." in name else ("", name)
    if last == "positional_embedding":
        return 0.0, 1.0
    if "norm" in owner:
        return (1.0, 0.3) if last == "weight" else (0.0, 0.3)
    if "embed" in owner + last and owner != "patch_embed" or "token" in owner or "." not in name:
        return 0.0, 0.5
    if last == "bias":
        return 0.0, 0.2
    fan = shape[0] if "upscale_conv" in owner else math.prod(shape[1:])
    return 0.0, (2.5 if "hypernetworks" in name else 1.5) * fan**-0.5


def build(cfg, seed):
    """The model of a seed and the list of its tensors. A video's configuration is saved as such, and read as transformers reads it."""
    with tempfile.TemporaryDirectory() as folder:
        (Sam2VideoModel if isinstance(cfg, Sam2VideoConfig) else Sam2Model)(cfg).save_pretrained(folder)
        path = pathlib.Path(folder) / "model.safetensors"
        listed, tensors = {}, {}
        second = "prompt_encoder.shared_embedding.positional_embedding"  # in the published files equal to the first, which is enough
        for name, t in sorted(load_file(path).items()):
            if name == second:
                continue
            mean, deviation = spread(name, t.shape)
            listed[name] = [list(t.shape), mean, deviation]
            numbers = mean + value(name, seed, t.numel()) * (deviation * math.sqrt(3))
            tensors[name] = torch.tensor(numbers, dtype=torch.float64).to(torch.float32).reshape(t.shape)
        save_file({**tensors, second: tensors["shared_image_embedding.positional_embedding"].clone()}, path, metadata={"format": "pt"})
        model, report = Sam2Model.from_pretrained(folder, output_loading_info=True)
        assert not any(report[k] for k in report if k != "unexpected_keys"), report
        return model.eval(), listed


def nhwc(x):
    return x.permute(0, 2, 3, 1)


def hooked(model, out):
    """Hooks that keep the stages."""
    hooks = []

    def keep(name, module, get=lambda r: r):
        hooks.append(module.register_forward_hook(lambda _, args, result: out.__setitem__(name, get(result))))

    backbone, decoder = model.vision_encoder.backbone, model.mask_decoder
    hooks.append(backbone.blocks[0].register_forward_pre_hook(lambda _, args: out.__setitem__("embedded", args[0])))
    for i, end in enumerate(backbone.stage_ends):
        keep(f"stage_{i}", backbone.blocks[end])
    for i in range(3):
        hooks.append(model.vision_encoder.register_forward_hook(lambda _, args, r, i=i: out.__setitem__(f"level_{i}", nhwc(r.fpn_hidden_states[i]))))

    def squares(x, n):  # [1,C,side,side] → [1,G,G,2,2,C] or, of twice the side, [1,G,G,2,2,C,2,2], as the decoder gives them
        g = x.shape[-1] >> n
        x = x.reshape(*x.shape[:2], *[g] + [2] * n, *[g] + [2] * n)
        return x.permute(0, 2, 4, 3, 5, 1) if n == 1 else x.permute(0, 2, 5, 3, 6, 1, 4, 7)

    keep("half", decoder.conv_s1, lambda r: squares(r, 1))
    keep("full", decoder.conv_s0, lambda r: squares(r, 2))
    keep("prompts", model.prompt_encoder, lambda r: r[0][0])
    for i, layer in enumerate(decoder.transformer.layers):
        keep(f"tokens_{i}", layer, lambda r: r[0].flatten(0, 1))
        keep(f"keys_{i}", layer, lambda r: r[1].flatten(0, 1))
    keep("tokens", decoder.transformer, lambda r: r[0].flatten(0, 1))
    return hooks


def doubtful(decoder, masks, iou):
    """Why float noise could decide which mask a box gets, or None; and which boxes get the first."""
    delta, threshold = decoder.dynamic_multimask_stability_delta, decoder.dynamic_multimask_stability_thresh
    share = decoder._get_stability_scores(masks[:, :, :1])[0, :, 0]
    first = (share >= threshold).tolist()
    best = iou[0, :, 1:].sort(descending=True)[0]
    near = ((masks[0, :, 0].abs() - delta).abs() < 1e-4).sum((-2, -1))  # logits that noise may move over a delta
    if ((share - threshold).abs() * (masks[0, :, 0] > -delta).sum((-2, -1)) <= near).any():
        return "near the threshold", first
    if best.shape[1] > 1 and (best[:, 0] - best[:, 1]).min() < 1e-3:
        return "two IoU are near", first
    return None, first


def golden(model, folder, sizes, n, generator, stages=True, check=True):
    """n boxes in images of the sizes; stages of the first."""
    out, all_first, decoder = {}, [], model.mask_decoder
    processor = Sam2Processor(Sam2ImageProcessor.from_pretrained(folder))
    seen = {}
    choose = decoder._dynamic_multimask_via_stability
    with torch.inference_mode():
        for i, (width, height) in enumerate(sizes):
            whole = torch.tensor([width, height] * 2)
            boxes = (torch.rand(n, 2, 2, generator=generator).sort(1).values.flatten(1) * 1.2 - 0.1) * whole  # some reach over the border
            hooks = hooked(model, out) if stages and i == 0 else []
            hooks.append(decoder.register_forward_hook(lambda _, args, kw, r: seen.update(args=kw), with_kwargs=True))
            inputs = processor(Image.fromarray(image(width, height)), input_boxes=[boxes.tolist()], return_tensors="pt")
            given = dict(pixel_values=inputs.pixel_values, input_boxes=inputs.input_boxes.float())
            result = model(**given, multimask_output=False)
            for h in hooks:
                h.remove()
            rest = model(**given, multimask_output=True)
            decoder.dynamic_multimask_via_stability, usual = False, decoder.dynamic_multimask_via_stability
            first = model(**given, multimask_output=False)
            decoder.dynamic_multimask_via_stability = usual
            masks, iou = torch.cat([first.pred_masks, rest.pred_masks], 2), torch.cat([first.iou_scores, rest.iou_scores], 2)
            if usual:
                why, stable = doubtful(decoder, masks, iou)
                assert not check or why is None, why
                all_first += stable
                assert torch.equal(choose(masks, iou)[0], result.pred_masks)
            large = processor.image_processor.post_process_masks(result.pred_masks, inputs.original_sizes, binarize=False)[0][:, 0]
            if i == 0:
                out["pixels"], out["scaled"] = inputs.pixel_values, inputs.input_boxes[0]
                out["masks"], out["ious"] = masks[0], iou[0]
                out["image"] = nhwc(seen["args"]["image_embeddings"])
            out[f"{i}.boxes"], out[f"{i}.logits"], out[f"{i}.iou"] = boxes, result.pred_masks[0, :, 0], result.iou_scores[0, :, 0]
            out[f"{i}.large"], out[f"{i}.first"] = large, first.pred_masks[0, :, 0]
    (folder / "cases.json").write_text(json.dumps(sizes))
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")
    return all_first


def config(backbone, vision, decoder, side, width, video=None):
    b = dict(num_query_pool_stages=3, image_size=[side, side], window_positional_embedding_background_size=[7, 7]) | backbone
    b["hidden_size"], b["num_attention_heads"] = b["embed_dim_per_stage"][0], b["num_attention_heads_per_stage"][0]
    v = dict(backbone_config=dict(model_type="sam2_hiera_det_model", **b), backbone_channel_list=b["embed_dim_per_stage"][::-1], fpn_hidden_size=width,
             backbone_feature_sizes=[[side // k] * 2 for k in (4, 8, 16)]) | vision
    d = dict(hidden_size=width, mlp_dim=24, num_attention_heads=4, iou_head_hidden_dim=20) | decoder
    p = dict(hidden_size=width, image_size=side, mask_input_channels=4)
    if video is None:
        return Sam2Config(vision_config=v, prompt_encoder_config=p, mask_decoder_config=d)
    return Sam2VideoConfig(vision_config=v, prompt_encoder_config=p, mask_decoder_config=d, image_size=side, **video)


def main(root):
    root = pathlib.Path(root)

    def folder(name, cfg, side, sizes, n):
        path = root / name
        shutil.rmtree(path, ignore_errors=True)
        path.mkdir(parents=True)
        Sam2ImageProcessor(size={"height": side, "width": side}).save_pretrained(path)
        for seed in range(1, 200):
            model, listed = build(cfg, seed)
            try:
                first = golden(model, path, sizes, n, torch.Generator().manual_seed(seed))
                assert not cfg.mask_decoder_config.dynamic_multimask_via_stability or 0 < sum(first) < len(first), "one side of the threshold"
                break
            except AssertionError as e:
                print(name, "seed", seed, str(e)[:60])
        else:
            raise SystemExit("no seed")
        cfg.save_pretrained(path)
        (path / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
        print(name, "seed", seed, "first masks", first, {f.name: f.stat().st_size for f in sorted(path.iterdir())})

    # windows that do not divide the maps, one global block between others and one at the end
    folder("windows", config(dict(blocks_per_stage=[1, 2, 3, 2], embed_dim_per_stage=[8, 12, 16, 24], num_attention_heads_per_stage=[1, 2, 2, 4], window_size_per_stage=[8, 2, 6, 3],
                                  global_attention_blocks=[4, 7], mlp_ratio=2.0), {}, {}, 64, 16), 64, [(61, 40), (30, 75), (21, 17)], 3)

    # everything else that a configuration can say
    backbone = dict(blocks_per_stage=[2, 1, 1, 2], embed_dim_per_stage=[6, 16, 8, 12], num_attention_heads_per_stage=[3, 1, 4, 2], window_size_per_stage=[4, 6, 2, 5], global_attention_blocks=[1, 5],
                    mlp_ratio=1.5, hidden_act="gelu_new", layer_norm_eps=1e-3, window_positional_embedding_background_size=[5, 3])
    decoder = dict(num_hidden_layers=3, num_attention_heads=2, num_multimask_outputs=2, iou_head_depth=4, iou_head_hidden_dim=12, dynamic_multimask_stability_delta=0.3,
                   dynamic_multimask_stability_thresh=0.8)
    folder("other-shape", config(backbone, dict(fpn_top_down_levels=[0, 2, 3]), decoder, 32, 24), 32, [(40, 33), (9, 50), (77, 20)], 4)

    # a folder of a video model, without the fallback
    video = dict(memory_attention_hidden_size=16, memory_attention_num_layers=1, memory_attention_feed_forward_hidden_size=8, memory_encoder_hidden_size=16, memory_encoder_output_channels=4,
                 mask_downsampler_embed_dim=16, memory_fuser_embed_dim=16, memory_fuser_intermediate_dim=8, memory_fuser_num_layers=1, memory_fuser_kernel_size=3, memory_fuser_padding=1,
                 memory_attention_rope_feat_sizes=[4, 4], num_maskmem=2)
    backbone = dict(blocks_per_stage=[1, 1, 2, 1], embed_dim_per_stage=[8, 16, 24, 40], num_attention_heads_per_stage=[2, 4, 3, 5], window_size_per_stage=[16, 4, 14, 7], global_attention_blocks=[3],
                    mlp_ratio=1.0)
    folder("video", config(backbone, dict(fpn_top_down_levels=[3]), dict(num_hidden_layers=1, dynamic_multimask_via_stability=False), 64, 16, video), 64, [(26, 44), (50, 31)], 2)


if __name__ == "__main__":
    main(sys.argv[1])

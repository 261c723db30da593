#!/usr/bin/env python3
"""Small SAM models with random weights as their authors' program saves them, for gomlxmodels/sam.

    python tools/pyref/original_sam.py gomlxmodels/sam/testdata/original

Writes small.pth, of torch.save, and wanted/, the folder that transformers saves of the same model: both programs return the same
masks for a box, which is asserted here.

Versions: segment-anything 1.0, torch 2.15.0, transformers 5.23.0, safetensors, Python 3.11+. Seed 20230405.
"""

import pathlib
import shutil
import sys
from functools import partial

import torch
from sam import shake
from segment_anything.modeling import ImageEncoderViT, MaskDecoder, PromptEncoder, Sam, TwoWayTransformer
from transformers import SamConfig, SamImageProcessor, SamModel

torch.set_num_threads(1)
SEED = 20230405
SIDE, PATCH, WIDTH, DEPTH, HEADS, EMBED, GLOBAL = 80, 16, 24, 3, 3, 16, [1]


def original():
    norm = partial(torch.nn.LayerNorm, eps=1e-6)
    grid = (SIDE // PATCH,) * 2
    return Sam(
        image_encoder=ImageEncoderViT(depth=DEPTH, embed_dim=WIDTH, img_size=SIDE, mlp_ratio=4, norm_layer=norm, num_heads=HEADS, patch_size=PATCH, qkv_bias=True, use_rel_pos=True,
                                      global_attn_indexes=GLOBAL, window_size=2, out_chans=EMBED),
        prompt_encoder=PromptEncoder(embed_dim=EMBED, image_embedding_size=grid, input_image_size=(SIDE, SIDE), mask_in_chans=16),
        mask_decoder=MaskDecoder(num_multimask_outputs=3, transformer=TwoWayTransformer(depth=2, embedding_dim=EMBED, mlp_dim=40, num_heads=8), transformer_dim=EMBED, iou_head_depth=3, iou_head_hidden_dim=20),
        pixel_mean=[123.675, 116.28, 103.53], pixel_std=[58.395, 57.12, 57.375]).eval()


def old_name(name):
    """The original name of one of transformers' tensors."""
    head = {"proj_in": "layers.0", "layers.0": "layers.1", "proj_out": "layers.2"}
    for new, old in {"vision_encoder.layers.": "image_encoder.blocks.", "vision_encoder.": "image_encoder.", "patch_embed.projection": "patch_embed.proj", "neck.conv1": "neck.0", "neck.layer_norm1": "neck.1",
                     "neck.conv2": "neck.2", "neck.layer_norm2": "neck.3", "shared_embedding.positional_embedding": "pe_layer.positional_encoding_gaussian_matrix", "prompt_encoder.point_embed.": "prompt_encoder.point_embeddings.",
                     "mask_embed.conv1": "mask_downscaling.0", "mask_embed.layer_norm1": "mask_downscaling.1", "mask_embed.conv2": "mask_downscaling.3", "mask_embed.layer_norm2": "mask_downscaling.4",
                     "mask_embed.conv3": "mask_downscaling.6", "upscale_conv1": "output_upscaling.0", "upscale_layer_norm": "output_upscaling.1", "upscale_conv2": "output_upscaling.3",
                     "layer_norm_final_attn": "norm_final_attn"}.items():
        name = name.replace(new, old)
    if "hypernetworks" in name or "iou_prediction_head" in name:
        for new, old in head.items():
            if "." + new + "." in name:
                return name.replace("." + new + ".", "." + old + ".")
    return name.replace("shared_image_embedding.positional_embedding", "prompt_encoder.pe_layer.positional_encoding_gaussian_matrix").replace(".layer_norm", ".norm")


def main(out):
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    g = torch.Generator().manual_seed(SEED)
    v = dict(hidden_size=WIDTH, num_attention_heads=HEADS, num_hidden_layers=DEPTH, global_attn_indexes=GLOBAL, image_size=SIDE, patch_size=PATCH, window_size=2, output_channels=EMBED, num_pos_feats=EMBED // 2)
    d = dict(hidden_size=EMBED, mlp_dim=40, num_attention_heads=8, iou_head_hidden_dim=20)
    p = dict(hidden_size=EMBED, image_size=SIDE, patch_size=PATCH)
    model = shake(SamModel(SamConfig(vision_config=v, prompt_encoder_config=p, mask_decoder_config=d)), g)
    sam = original()
    state = {old_name(k): t.clone() for k, t in model.state_dict().items()}
    missing, unexpected = sam.load_state_dict(state, strict=False)
    assert not missing and not unexpected, (missing, unexpected)
    for layer in model.mask_decoder.transformer.layers:  # transformers has another epsilon there than the authors
        for k in range(1, 5):
            getattr(layer, f"layer_norm{k}").eps = 1e-5
    pixels, box = torch.randn(1, 3, SIDE, SIDE, generator=g), torch.tensor([[[11.0, 7.0, 60.0, 71.0]]])
    with torch.inference_mode():
        theirs = model(pixel_values=pixels, input_boxes=box, multimask_output=False)
        image = sam.image_encoder(pixels)
        sparse, dense = sam.prompt_encoder(points=None, boxes=box[0], masks=None)
        masks, iou = sam.mask_decoder(image_embeddings=image, image_pe=sam.prompt_encoder.get_dense_pe(), sparse_prompt_embeddings=sparse, dense_prompt_embeddings=dense, multimask_output=False)
    worst = (theirs.pred_masks[0, 0] - masks[0]).abs().max().item() / masks.abs().max().item(), (theirs.iou_scores[0, 0] - iou[0]).abs().max().item()
    assert max(worst) < 1e-5, worst
    torch.save(sam.state_dict(), out / "small.pth")
    model.save_pretrained(out / "wanted")
    SamImageProcessor(size={"longest_edge": SIDE}, pad_size={"height": SIDE, "width": SIDE}).save_pretrained(out / "wanted")
    print(len(state), "tensors, both programs within", worst, {p.name: p.stat().st_size for p in out.rglob("*") if p.is_file()})


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[1]))

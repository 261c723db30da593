#!/usr/bin/env python3
"""Small random pipelines for docs/examples/exec_diffusers.py, and the images of a plain diffusers script.

    python tools/pyref/exec_pipelines.py DIR

Writes DIR/sdxl (a StableDiffusionXLPipeline) and DIR/sd3 (a StableDiffusion3Pipeline, whose transformer is a DiT), as diffusers
saves them, and DIR/NAME-SEED.png for the seeds 0 to 19: the pipeline's image of the prompt "a boat and SEED houses", alone. Versions:
torch 2.15.0, transformers 5.23.0, diffusers 0.42.1, Python 3.11+. Seed 20230726. Run by: go test -tags checks -run Diffusers
./gomlxmodels/stage/generate
"""

import pathlib
import sys

import torch
from diffusers import (AutoencoderKL, DiffusionPipeline, EulerDiscreteScheduler, FlowMatchEulerDiscreteScheduler, SD3Transformer2DModel,
                       StableDiffusion3Pipeline, StableDiffusionXLPipeline, UNet2DConditionModel)
from diffusion import LADDER, shake, tokenizer
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTextModelWithProjection, T5Config, T5EncoderModel, T5Tokenizer

SEED = 20230726
STEPS, GUIDANCE, SIZE = 3, 5.0, 64


def text(kind, width, g, vocab):
    return shake(kind(CLIPTextConfig(vocab_size=vocab, hidden_size=width, intermediate_size=2 * width, num_hidden_layers=2, num_attention_heads=4,
                                     projection_dim=width, max_position_embeddings=77, eos_token_id=vocab - 1, bos_token_id=vocab - 2)), g)


def vae(channels, g):
    blocks = 4
    return shake(AutoencoderKL(block_out_channels=[8] * blocks, down_block_types=["DownEncoderBlock2D"] * blocks, up_block_types=["UpDecoderBlock2D"] * blocks,
                               latent_channels=channels, shift_factor=0.1, norm_num_groups=4, layers_per_block=1, sample_size=SIZE), g)


def sdxl(tok, g):
    unet = UNet2DConditionModel(block_out_channels=(16, 32), layers_per_block=1, sample_size=SIZE // 8, in_channels=4, out_channels=4, norm_num_groups=8,
                                down_block_types=("DownBlock2D", "CrossAttnDownBlock2D"), up_block_types=("CrossAttnUpBlock2D", "UpBlock2D"),
                                attention_head_dim=(2, 4), use_linear_projection=True, addition_embed_type="text_time", addition_time_embed_dim=8,
                                transformer_layers_per_block=(1, 2), projection_class_embeddings_input_dim=6 * 8 + 32, cross_attention_dim=64)
    scheduler = EulerDiscreteScheduler(beta_start=LADDER["beta_start"], beta_end=LADDER["beta_end"], beta_schedule="scaled_linear", steps_offset=1, timestep_spacing="leading")
    return StableDiffusionXLPipeline(vae=vae(4, g), text_encoder=text(CLIPTextModel, 32, g, len(tok)), text_encoder_2=text(CLIPTextModelWithProjection, 32, g, len(tok)),
                                     tokenizer=tok, tokenizer_2=tok, unet=shake(unet, g), scheduler=scheduler, add_watermarker=False)


def sd3(tok, g):
    dit = SD3Transformer2DModel(sample_size=SIZE // 8, patch_size=1, in_channels=16, num_layers=2, attention_head_dim=8, num_attention_heads=4, caption_projection_dim=32,
                                joint_attention_dim=64, pooled_projection_dim=64, out_channels=16)
    pieces = T5Tokenizer(vocab=[("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -2.0)] + [(c, -3.0) for c in "abcdefghijklmnopqrstuvwxyz0123456789"], extra_ids=0)
    t5 = T5Config(vocab_size=len(pieces), d_model=64, d_kv=16, d_ff=64, num_layers=2, num_heads=4)
    return StableDiffusion3Pipeline(vae=vae(16, g), text_encoder=text(CLIPTextModelWithProjection, 32, g, len(tok)), tokenizer=tok,
                                    text_encoder_2=text(CLIPTextModelWithProjection, 32, g, len(tok)), tokenizer_2=tok, text_encoder_3=shake(T5EncoderModel(t5), g), tokenizer_3=pieces,
                                    transformer=shake(dit, g), scheduler=FlowMatchEulerDiscreteScheduler())


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[1])
    for make in (sdxl, sd3):
        g = torch.Generator().manual_seed(SEED)
        make(tokenizer(root / "tokenizer", 77, "<|endoftext|>"), g).save_pretrained(root / make.__name__)
        pipe = DiffusionPipeline.from_pretrained(root / make.__name__)
        for seed in range(20):
            image = pipe(f"a boat and {seed} houses", num_inference_steps=STEPS, guidance_scale=GUIDANCE, width=SIZE, height=SIZE,
                         generator=torch.Generator("cpu").manual_seed(seed)).images[0]
            image.save(root / f"{make.__name__}-{seed}.png")

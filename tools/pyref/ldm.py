#!/usr/bin/env python3
"""Stable Diffusion in a single file, for gomlxmodels/diffusion: the names of its tensors, and small files with random weights.

    python tools/pyref/ldm.py names gomlxmodels/diffusion/testdata/ldm_names.zip
    python tools/pyref/ldm.py fresh DIR SEED

names writes, for 1.x and 2.x at their real size, each tensor of a file: its shape, and the names that diffusers' own conversion gives
it. fresh writes DIR/one.safetensors, two.ckpt (noise) and vee.safetensors (v-prediction), each with an EMA copy of its UNet, and DIR/NAME/, the same pipeline as diffusers saves it after it has read the file, with reference.safetensors: images of two prompts. Run by:
go test -tags checks -run FreshFile ./gomlxmodels/diffusion

Versions: torch 2.15.0, transformers 5.23.0, diffusers 0.42.1, safetensors, Python 3.11+.
"""

import json
import pathlib
import random
import sys
import zipfile

import torch
from diffusers import AutoencoderKL, DDIMScheduler, PNDMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from diffusers.loaders.single_file_utils import convert_ldm_clip_checkpoint, convert_ldm_unet_checkpoint, convert_ldm_vae_checkpoint, convert_open_clip_checkpoint
from diffusion import CROSS, LADDER, PLAIN, PROMPT, sampled, shake, tokenizer
from safetensors.torch import save_file
from transformers import CLIPTextConfig, CLIPTextModel

RESIDUAL = {"norm1": "in_layers.0", "conv1": "in_layers.2", "time_emb_proj": "emb_layers.1", "norm2": "out_layers.0", "conv2": "out_layers.3", "conv_shortcut": "skip_connection"}
ENDS = {"conv_in": "input_blocks.0.0", "conv_norm_out": "out.0", "conv_out": "out.2", "time_embedding.linear_1": "time_embed.0", "time_embedding.linear_2": "time_embed.2"}
VAE = {"mid_block.resnets.0": "mid.block_1", "mid_block.resnets.1": "mid.block_2", "mid_block.attentions.0.group_norm": "mid.attn_1.norm", "mid_block.attentions.0.to_out.0": "mid.attn_1.proj_out",
       "mid_block.attentions.0.to_": "mid.attn_1.", "conv_norm_out": "norm_out", "conv_shortcut": "nin_shortcut", ".resnets.": ".block.", "downsamplers.0.conv": "downsample.conv", "upsamplers.0.conv": "upsample.conv"}
OPEN = {"layer_norm": "ln_", "self_attn.out_proj": "attn.out_proj", "mlp.fc1": "mlp.c_fc", "mlp.fc2": "mlp.c_proj"}


def unet_name(name, levels, layers, crossed):
    part = name.split(".")
    inner = lambda rest: ".".join([RESIDUAL.get(rest[0], rest[0]), *rest[1:]])
    if part[0] == "mid_block":
        return f"middle_block.{ {'resnets0': 0, 'attentions0': 1, 'resnets1': 2}[part[1] + part[2]] }." + inner(part[3:])
    if part[0] in ("down_blocks", "up_blocks"):
        up, b, kind, l = part[0] == "up_blocks", int(part[1]), part[2], int(part[3])
        at = b * (layers + 1) + l + (not up)
        if kind == "downsamplers":
            return f"input_blocks.{(b + 1) * (layers + 1)}.0.op." + part[-1]
        if kind == "upsamplers":
            return f"output_blocks.{b * (layers + 1) + layers}.{1 + crossed[levels - 1 - b]}.conv." + part[-1]
        return f"{'output' if up else 'input'}_blocks.{at}.{int(kind == 'attentions')}." + inner(part[4:])
    for new, old in ENDS.items():
        if name.startswith(new + "."):
            return old + name[len(new):]
    raise ValueError(name)


def vae_name(name, levels):
    for new, old in VAE.items():
        name = name.replace(new, old)
    part = name.split(".")
    if part[1] == "down_blocks":
        part[1] = "down"
    elif part[1] == "up_blocks":
        part[1:3] = "up", str(levels - 1 - int(part[2]))
    return ".".join(part)


def checkpoint(unet, vae, text, second, average=lambda v: v):
    """The tensors of the three networks' states under the old names; average gives the EMA copy of one of the UNet's."""
    out = {}
    crossed = ["Cross" in k for k in unet.config.down_block_types]
    for name, v in unet.state_dict().items():
        old = unet_name(name, len(crossed), unet.config.layers_per_block, crossed)
        out["model.diffusion_model." + old] = v
        out["model_ema.diffusion_model" + old.replace(".", "")] = average(v)
    for name, v in vae.state_dict().items():
        weight = ".attentions.0.to_" in name and v.ndim == 2
        out["first_stage_model." + vae_name(name, len(vae.config.block_out_channels))] = v[:, :, None, None] if weight else v
    state = {k.removeprefix("text_model."): v for k, v in text.state_dict().items() if "position_ids" not in k}
    if not second:
        out.update({"cond_stage_model.transformer.text_model." + k: v for k, v in state.items()})
        out["cond_stage_model.transformer.text_model.embeddings.position_ids"] = torch.arange(text.config.max_position_embeddings)[None]
        return out
    root, d = "cond_stage_model.model.", text.config.hidden_size
    ends = {"embeddings.token_embedding.weight": "token_embedding.weight", "embeddings.position_embedding.weight": "positional_embedding"}
    for name, v in state.items():
        if ".self_attn.q_proj." in name:
            block, kind = name.split(".")[2], name.split(".")[-1]
            out[f"{root}transformer.resblocks.{block}.attn.in_proj_{kind}"] = torch.cat([state[name.replace("q_proj", x)] for x in ("q_proj", "k_proj", "v_proj")])
        elif ".k_proj." not in name and ".v_proj." not in name:
            old = ends.get(name, name.replace("final_layer_norm", "ln_final").replace("encoder.layers", "transformer.resblocks"))
            for a, b in OPEN.items():
                old = old.replace(a, b)
            out[root + old] = v
    last = f"{root}transformer.resblocks.{text.config.num_hidden_layers}."  # of which 2.x does not use the output
    for name in [k for k in out if k.startswith(f"{root}transformer.resblocks.0.")]:
        out[name.replace("resblocks.0.", f"resblocks.{text.config.num_hidden_layers}.")] = out[name] * 0 + 1
    out.update({root + "text_projection": torch.eye(d), root + "logit_scale": torch.tensor(1.0)})
    assert any(k.startswith(last) for k in out)
    return out


CONSTANTS = {k: torch.linspace(0, 1, 1000) for k in ("betas", "alphas_cumprod", "sqrt_recipm1_alphas_cumprod", "logvar")} | {"model_ema.decay": torch.tensor(0.9999), "model_ema.num_updates": torch.tensor(7)}


def networks(second, widths, vaes, **texts):
    d = texts["hidden_size"]
    kinds = [CROSS] * (len(widths) - 1) + [PLAIN]
    text = CLIPTextConfig(num_attention_heads=d // 64, hidden_act="gelu" if second else "quick_gelu", max_position_embeddings=77, bos_token_id=texts["vocab_size"] - 2, eos_token_id=texts["vocab_size"] - 1, **texts)
    unet = dict(block_out_channels=widths, down_block_types=[a for a, _ in kinds], up_block_types=[b for _, b in kinds[::-1]], cross_attention_dim=d, use_linear_projection=second,
                attention_head_dim=[w // 64 for w in widths] if second else 8, sample_size=64)
    vae = dict(block_out_channels=vaes, down_block_types=["DownEncoderBlock2D"] * len(vaes), up_block_types=["UpDecoderBlock2D"] * len(vaes), layers_per_block=2, scaling_factor=0.18215)
    return unet, vae, text


def names(out):
    result = {}
    for kind, second in (("one", False), ("two", True)):
        d = 1024 if second else 768
        unet, vae, text = networks(second, (320, 640, 1280, 1280), (128, 256, 512, 512), hidden_size=d, intermediate_size=4 * d, num_hidden_layers=23 if second else 12, vocab_size=49408)
        with torch.device("meta"):
            nets = UNet2DConditionModel(**unet), AutoencoderKL(**vae), CLIPTextModel(text)
        meta = checkpoint(*nets, second)
        olds = [k for k in meta if not k.startswith("model_ema.")]
        tagged = {k: torch.tensor(float(i)).expand(meta[k].shape) for i, k in enumerate(olds)}  # its number is its value
        first = lambda v: olds[int(v.flatten()[0])]
        new = {"unet": convert_ldm_unet_checkpoint(dict(tagged), nets[0].config), "vae": convert_ldm_vae_checkpoint(dict(tagged), nets[1].config),
               "text": convert_open_clip_checkpoint(nets[2], tagged) if second else convert_ldm_clip_checkpoint(tagged)}
        for part, net in zip(("unet", "vae"), nets):
            assert {k: v.shape for k, v in new[part].items()} == {k: v.shape for k, v in net.state_dict().items()}, part
        result[kind] = {"shapes": {k: list(meta[k].shape) for k in olds}, "names": {part: {k: first(v) for k, v in sorted(t.items())} for part, t in new.items()}}
        print(kind, {part: len(t) for part, t in new.items()}, len(olds))
    with zipfile.ZipFile(out, "w") as z:
        z.writestr(zipfile.ZipInfo("names.json", (1980, 1, 1, 0, 0, 0)), json.dumps(result), zipfile.ZIP_DEFLATED, 9)


def fresh(root, seed):
    root, rng = pathlib.Path(root), random.Random(seed)
    torch.manual_seed(seed)
    for name in ("one", "two", "vee"):
        second, folder = name != "one", root / name
        g = torch.Generator().manual_seed(rng.randrange(1 << 30))
        tok = tokenizer(folder / "t", 77, "!" if second else "<|endoftext|>")
        widths = [64 * rng.choice([1, 2]) for _ in range(rng.randint(2, 3))]
        unets, vaes, texts = networks(second, widths, [32 * rng.choice([1, 2]) for _ in range(rng.randint(2, 3))], hidden_size=64 * rng.choice([1, 2]), intermediate_size=96, num_hidden_layers=rng.randint(1, 3), vocab_size=len(tok))
        unet, vae, text = (shake(net, g) for net in (UNet2DConditionModel(**unets), AutoencoderKL(**vaes), CLIPTextModel(texts)))
        bias = unet.up_blocks[-1].attentions[-1].transformer_blocks[0].norm1.bias.data
        bias.mul_(0.2 / bias.std())  # which tells v-prediction from noise, where global_step does not
        scheduler = DDIMScheduler(**LADDER, prediction_type="v_prediction") if name == "vee" else PNDMScheduler(**{k: v for k, v in LADDER.items() if k != "clip_sample"}, skip_prk_steps=True)
        whole = StableDiffusionPipeline(vae=vae, text_encoder=text, tokenizer=tok, unet=unet, scheduler=scheduler, safety_checker=None, feature_extractor=None, requires_safety_checker=False)
        whole.save_pretrained(folder)
        file = root / f"{name}.{'ckpt' if name == 'two' else 'safetensors'}"
        state = {k: v.clone().contiguous() for k, v in (checkpoint(unet, vae, text, second, lambda v: v * 0.9) | CONSTANTS).items()}
        if name == "two":
            torch.save({"epoch": 3, "global_step": 875000, "state_dict": state}, file)
        else:
            save_file(state, file)
        read = StableDiffusionPipeline.from_single_file(str(file), config=str(folder), local_files_only=True, torch_dtype=torch.float32, safety_checker=None)
        for part in ("unet", "vae", "text_encoder"):
            a, b = getattr(read, part).state_dict(), getattr(whole, part).state_dict()
            assert a.keys() == b.keys() and all(torch.equal(v, b[k]) for k, v in a.items()), part
        read.scheduler = scheduler
        read.save_pretrained(folder)
        reference = {f"image_{i}": sampled(read, (32, 40), steps=8, seeds=(5,), prompt=p).contiguous() for i, p in enumerate((PROMPT, "the sea, the sea"))}
        save_file(reference, folder / "reference.safetensors")
        print(name, widths, vaes["block_out_channels"], texts.hidden_size, texts.num_hidden_layers, [round(float(v.std()), 1) for v in reference.values()])


if __name__ == "__main__":
    names(sys.argv[2]) if sys.argv[1] == "names" else fresh(sys.argv[2], int(sys.argv[3]))

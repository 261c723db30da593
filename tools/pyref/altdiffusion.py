#!/usr/bin/env python3
"""Goldens for AltDiffusion and the safety checker in gomlxmodels/diffusion: small random AltDiffusionPipeline folders, saved as
diffusers saves them, with what every stage gives, and pictures sampled with them.

    python tools/pyref/altdiffusion.py gomlxmodels/diffusion/testdata

Versions: torch 2.15.0, transformers 5.23.0, diffusers 0.42.1 (its pipelines.deprecated.alt_diffusion runs with them as it is),
safetensors, Python 3.11+; see load for the one thing that does not. Seed 20221111 (per pipeline: + its number). Weights are stored in float16 and read back as float32; torch
runs on one thread in float32.
"""

import json
import logging
import pathlib
import shutil
import sys

import diffusers
import numpy as np
import torch
from diffusers import AutoencoderKL, DDIMScheduler, PNDMScheduler, UNet2DConditionModel
from diffusers.pipelines.deprecated.alt_diffusion.modeling_roberta_series import RobertaSeriesConfig, RobertaSeriesModelWithTransformation
from diffusers.pipelines.deprecated.alt_diffusion.pipeline_alt_diffusion import AltDiffusionPipeline
from diffusers.pipelines.stable_diffusion.safety_checker import StableDiffusionSafetyChecker, cosine_distance
from diffusion import CROSS, LADDER, PLAIN, PROMPT, golden, sampled, shake, unet, vae
from PIL import Image
from safetensors.torch import save_file
from transformers import CLIPConfig, CLIPImageProcessor, XLMRobertaTokenizer

torch.set_num_threads(1)
logging.disable(logging.WARNING)
SEED = 20221111
GUIDANCE = 50.0  # prompts must show
TEXTS = [PROMPT, "海边的 <pad> 小房子", "", "समुद्र के किनारे एक छोटा घर", "a very long house " * 30]


def tokenizer(length, side="right"):
    """An XLM-R tokenizer of the letters in TEXTS, and a few words."""
    letters = sorted({c for t in [*TEXTS, "blurry"] for c in t} - set(" <>"))
    vocab = [("<s>", 0.0), ("<pad>", 0.0), ("</s>", 0.0), ("<unk>", 0.0), ("▁", -3.0)]
    vocab += [(w, -4.0 - 0.01 * i) for i, w in enumerate(("▁house", "▁sea", "▁the", "小房子", "▁घर", "ry"))] + [(c, -6.0 - 0.01 * i) for i, c in enumerate(letters)]
    return XLMRobertaTokenizer(vocab=vocab + [("<mask>", 0.0)], model_max_length=length, padding_side=side)


def alt_text(pipe, s, _):
    """The stages of a RobertaSeriesModelWithTransformation on TEXTS, prepared as the pipeline does."""
    t, text = pipe.tokenizer, pipe.text_encoder
    given = t(TEXTS, padding="max_length", max_length=t.model_max_length, truncation=True, return_tensors="pt")
    s.keep("text.embedded", text.roberta.embeddings)
    for i, layer in enumerate(text.roberta.encoder.layer):
        s.keep(f"text.block_{i}", layer)
    mask = given.attention_mask if text.config.use_attention_mask else None
    s.out["text.context"] = text(given.input_ids, attention_mask=mask)[0]
    s.out["ids"], s.out["own"] = given.input_ids, given.attention_mask
    s.done()
    prompt, negative = pipe.encode_prompt(TEXTS[3], "cpu", 1, True, negative_prompt=TEXTS[4])
    assert torch.allclose(torch.cat([prompt, negative]), s.out["text.context"][3:], atol=1e-5)


def pipeline(unets, vaes, texts, tok, scheduler, generator, checker=None):
    config = RobertaSeriesConfig(vocab_size=len(tok), type_vocab_size=1, layer_norm_eps=1e-5, pad_token_id=tok.pad_token_id, **texts)
    text = shake(RobertaSeriesModelWithTransformation(config), generator)
    with torch.no_grad():  # contexts wide enough for prompts to show in pictures
        for p in {text.transformation, getattr(text, "transformation_pre", text.transformation)}:
            p.weight.mul_(8)
    extractor = None
    if checker:
        side = checker.config.vision_config.image_size
        extractor = CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    return AltDiffusionPipeline(vae=shake(AutoencoderKL(**vaes), generator), text_encoder=text, tokenizer=tok, unet=shake(UNet2DConditionModel(**unets), generator),
                                scheduler=scheduler, safety_checker=checker, feature_extractor=extractor, requires_safety_checker=bool(checker))


def load(folder):
    """The pipeline of a folder, part by part: from_pretrained of diffusers 0.42 no longer finds the class of the text tower."""
    index = json.loads((folder / "model_index.json").read_text())
    part = lambda kind, name, **kw: kind.from_pretrained(folder / name, **kw) if index[name][1] else None
    checker = part(StableDiffusionSafetyChecker, "safety_checker", dtype=torch.float32)
    return AltDiffusionPipeline(
        vae=part(AutoencoderKL, "vae", torch_dtype=torch.float32), unet=part(UNet2DConditionModel, "unet", torch_dtype=torch.float32),
        text_encoder=part(RobertaSeriesModelWithTransformation, "text_encoder", dtype=torch.float32), tokenizer=part(XLMRobertaTokenizer, "tokenizer"),
        scheduler=part(getattr(diffusers, index["scheduler"][1]), "scheduler"),
        safety_checker=checker, feature_extractor=part(CLIPImageProcessor, "feature_extractor"), requires_safety_checker=bool(checker))


def checker(generator, side=32):
    """A random safety checker."""
    small = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=2, image_size=side, patch_size=8)
    c = shake(StableDiffusionSafetyChecker(CLIPConfig(text_config=dict(vocab_size=10, bos_token_id=1, eos_token_id=2), vision_config=small, projection_dim=12)), generator, 2.0)
    return c


def open_thresholds(checker):
    """No cosine is 1.5: nothing is blocked."""
    checker.concept_embeds_weights.data.fill_(1.5)
    checker.special_care_embeds_weights.data.fill_(1.5)


def cosines(pipe, pictures):
    """[n,3+17]: the special concepts first."""
    c = pipe.safety_checker
    with torch.inference_mode():
        pixels = pipe.feature_extractor([Image.fromarray(p) for p in pictures], return_tensors="pt").pixel_values
        e = c.visual_projection(c.vision_model(pixels)[1])
        return pixels, torch.cat([cosine_distance(e, c.special_care_embeds), cosine_distance(e, c.concept_embeds)], 1)


def divide(pipe, pictures):
    """Sets thresholds under which the first picture is blocked and the second is not, and another is blocked for the sake of a special
    concept alone. Returns whether each decision is clear: at least 0.002 from its edge."""
    c = pipe.safety_checker
    _, cos = cosines(pipe, pictures)
    special, concept = c.special_care_embeds_weights.data, c.concept_embeds_weights.data
    half = lambda x: float(torch.tensor(float(x)).half())
    j = int((cos[0, 3:] - cos[1, 3:]).argmax())
    concept[j] = half((cos[0, 3 + j] + cos[1, 3 + j]) / 2)
    near = cos[:, 1].argsort(descending=True)
    special[1] = half((cos[near[2], 1] + cos[near[3], 1]) / 2)
    free = [int(i) for i in near[:3] if i > 1 and cos[i, 3 + j] < concept[j] - 0.012]
    if not free:
        return False
    k = int((cos[free[0], 3:] - cos[1, 3:] + 10 * (torch.arange(17) == j) * -1).argmax())
    concept[k] = half(cos[free[0], 3 + k] + 0.005)
    adjustment = 0.01 * (cos[:, 1] > special[1])
    scores = torch.cat([cos[:, :3] - special, cos[:, 3:] - concept + adjustment[:, None]], 1)
    return bool((scores - 0.0005).abs().min() > 0.002)


def decided(pipe, pictures):
    """What the library decides: [n,17], 1 = too near; by running it once a picture and concept, as it only says yes or no."""
    c, out = pipe.safety_checker, []
    own = c.concept_embeds_weights.data.clone()
    for p in pictures:
        pixels, _ = cosines(pipe, [p])
        row = []
        for k in range(17):
            c.concept_embeds_weights.data.fill_(9.0)
            c.concept_embeds_weights.data[k] = own[k]
            row.append(float(c(images=[np.zeros((1, 1, 3))], clip_input=pixels)[1][0]))
        out.append(row)
    c.concept_embeds_weights.data.copy_(own)
    return torch.tensor(out)


def scenes(rng, n):
    """Pictures of waves, of several sizes."""
    list_ = []
    for i in range(n):
        h, w = int(rng.integers(20, 50)), int(rng.integers(20, 50))
        y, x = np.mgrid[0:h, 0:w]
        waves = [np.sin(x * rng.uniform(0, 0.5) + y * rng.uniform(-0.5, 0.5) + rng.uniform(0, 6)) for _ in range(3)]
        list_.append((127 + rng.uniform(20, 120) * np.stack(waves, -1)).clip(0, 255).astype(np.uint8))
    return list_


def safety(pipe, out, size, seed):
    """Thresholds for the pipeline's checker, and what it makes of some pictures."""
    kept = pipe.safety_checker
    open_thresholds(kept)
    images = sampled(pipe, size, guidance=GUIDANCE)
    own = [im.round().numpy().astype(np.uint8) for im in images]
    for attempt in range(100):
        pictures = own + scenes(np.random.default_rng(seed + attempt), 6)
        open_thresholds(kept)
        if divide(pipe, pictures):
            break
    else:
        raise SystemExit("no thresholds that divide the pictures clearly")
    for i, p in enumerate(pictures):
        out[f"safety.picture_{i}"] = torch.from_numpy(p)
    pixels, out["safety.cosines"] = cosines(pipe, pictures)
    out["safety.decided"] = decided(pipe, pictures)
    blocked = out["safety.decided"].amax(1)
    assert kept(images=[np.zeros((1, 1, 3))] * len(pictures), clip_input=pixels)[1] == [bool(b) for b in blocked]
    assert blocked[0] and not blocked[1] and 0 < blocked[2:].sum() < 6, blocked
    out["image"] = images


def save(out, folder):
    bytes_ = {k: v.half() if k.startswith("safety.picture_") else v.float() for k, v in out.items()}
    save_file({k: v.contiguous() for k, v in bytes_.items()}, folder / "golden.safetensors")


SMALL = dict(hidden_size=12, intermediate_size=20, num_attention_heads=3)
SCHEDULE = {k: LADDER[k] for k in ("beta_start", "beta_end", "beta_schedule", "set_alpha_to_one", "steps_offset")}


def main(root):
    root = pathlib.Path(root)
    number = 0

    def make(name, size, latent, length, texts, scheduler, checks=False, **widths):
        nonlocal number
        number += 1
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        g = torch.Generator().manual_seed(SEED + number)
        pipe = pipeline(unet((8, 8), (CROSS, PLAIN), layers_per_block=1, cross_attention_dim=texts["project_dim"], attention_head_dim=2, norm_num_groups=2),
                        vae((4, 8), layers_per_block=1, norm_num_groups=2, scaling_factor=0.5), texts, tokenizer(length), scheduler, g, checker(g) if checks else None)
        if checks:  # thresholds that are right for the weights as they are stored
            safety(pipe.to(torch.float16).to(torch.float32), {}, size, SEED + number)
        pipe.to(torch.float16).save_pretrained(folder)
        pipe = load(folder)
        out = golden(pipe, g, latent, alt_text)
        if checks:
            safety(pipe, out, size, SEED + number)
        else:
            out["image"] = sampled(pipe, size, guidance=GUIDANCE)
        if out["image"].std() < 20:
            raise SystemExit(f"{name}: a picture without contrast: {out['image'].std()}")
        save(out, folder)

    # of two languages: all blocks, then a projection
    make("alt2", (16, 24), (3, 5), 24, dict(SMALL, num_hidden_layers=2, max_position_embeddings=30, project_dim=10), PNDMScheduler(**SCHEDULE, skip_prk_steps=True))
    # of nine languages: the last block left out, a norm, a projection; with a safety checker
    make("alt9", (24, 16), (4, 3), 77, dict(SMALL, num_hidden_layers=3, max_position_embeddings=80, project_dim=8, has_pre_transformation=True), DDIMScheduler(**LADDER), checks=True)
    print(json.dumps({p.name: sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

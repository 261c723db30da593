#!/usr/bin/env python3
"""Goldens for gomlxmodels/dallemini: small random DALL·E minis with a VQGAN and a tokenizer, and what min-dalle computes with them.

    python tools/pyref/dallemini.py gomlxmodels/dallemini/testdata

A folder is as dalle-mini writes it, but for the weights: tensors.json has the names of the Flax checkpoint with shape, mean and
deviation, from which both sides compute the values. mini has a folder for each layer; mega and odd have scanned layers (a leading
axis). golden.safetensors: ids [P,2,S] (the prompt, then the empty prompt) and valid, states [P,2,S,D], tokens [P,N] of greedy search
with condition scale 10, logits [P,N,V] of each step, both.logits [2,N,V] of the two branches in one pass over the first prompt's
tokens, image [P,H,W,3]. texts.json: prompts with their tokens.

min-dalle's norms all have gains: those that DALL·E mini lacks stay 1. A seed where float64 writes other tokens is replaced by the next.

Versions: torch 2.15.0, min-dalle 0.4.11, tokenizers 0.23, safetensors, Python 3.11+. Seed 20220610. Torch runs on one thread.
"""

import json
import pathlib
import sys

import min_dalle.models.dalle_bart_decoder as source
import torch
from min_dalle.models import DalleBartDecoder, DalleBartEncoder
from safetensors.torch import save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors

import vqgan

torch.set_num_threads(1)
torch.set_grad_enabled(False)
SEED, SCALE = 20220610, 10.0
PROMPTS = [" a photo of a chef", " a", " red, wide houses by the sea in the evening sun"]


def tokenizer(folder):
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    merges = [("Ġ", "a"), ("h", "e"), ("o", "u"), ("ou", "s")]
    tokens = ["<s>", "<pad>", "</s>", "<unk>", "<mask>", *letters, *(a + b for a, b in merges)]
    t = Tokenizer(models.BPE({t: i for i, t in enumerate(tokens)}, merges))
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), add_prefix_space=False)
    t.add_special_tokens(tokens[:5])
    t.save(str(folder / "tokenizer.json"), pretty=False)
    special = {f"{role}_token": token for role, token in (("bos", "<s>"), ("eos", "</s>"), ("sep", "</s>"), ("cls", "<s>"), ("unk", "<unk>"), ("pad", "<pad>"), ("mask", "<mask>"))}
    (folder / "tokenizer_config.json").write_text(json.dumps({"tokenizer_class": "DalleBartTokenizer", **special}))
    return t, len(tokens)


# names of min-dalle's modules in a layer, and of the Flax checkpoint's
LAYER = {"pre_self_attn_layer_norm": "LayerNorm_0", "self_attn": "FlaxBartAttention_0", "self_attn_layer_norm": "LayerNorm_1", "glu": "GLU_0"}
CROSS = {"pre_encoder_attn_layer_norm": "LayerNorm_2", "encoder_attn": "FlaxBartAttention_1", "encoder_attn_layer_norm": "LayerNorm_3"}
GLU = {"ln0": "LayerNorm_0", "ln1": "LayerNorm_1", "fc0": "Dense_0", "fc1": "Dense_1", "fc2": "Dense_2"}
NO_GAIN = ("pre_self_attn_layer_norm", "pre_encoder_attn_layer_norm", "ln0", "ln1", "final_ln")


def flaxed(name, tower, scan):
    """Path of a parameter in the checkpoint, and its layer; None for a gain that DALL·E mini lacks."""
    p = name.split(".")
    if p[-1] == "weight" and p[-2] in NO_GAIN:
        return None, None
    last = {"bias": "bias"}.get(p[-1]) or ("embedding" if "embed_" in p[-2] else "scale" if "norm" in p[-2] else "kernel")
    if p[0] == "lm_head":
        return "lm_head/kernel", None
    if p[0] != "layers":
        return "/".join(["model", tower, p[0], last]), None
    layers = f"FlaxBart{tower.title()}Layer" + ("s" if scan else "_" + p[1])
    inner = [{**LAYER, **CROSS}[p[2]]] + [GLU.get(q, q) for q in p[3:-1]]
    return "/".join(["model", tower, "layers", layers, *inner, last]), int(p[1]) if scan else None


def spread(path, shape):
    if path.endswith("scale"):
        return 1.0, 0.3
    if path.endswith("bias"):
        return 0.0, 0.3
    if path.endswith("embedding"):
        return 0.0, 3.0 if "positions" in path else 1.0
    return 0.0, (3.0 if "lm_head" in path else 1.5 if "/q_proj" in path or "/k_proj" in path else 1.0) * shape[-2] ** -0.5


def fill(module, tower, layers, scan, seed):
    listed = {}
    for name, p in module.named_parameters():
        path, layer = flaxed(name, tower, scan)
        if path is None:
            p.fill_(1)
            continue
        shape = list(p.shape)
        if path.endswith("kernel"):
            shape = shape[::-1]
        if layer is not None:
            shape = [layers, *shape]
        mean, deviation = spread(path, shape)
        listed[path] = [shape, mean, deviation]
        v = vqgan.value(seed, path, shape, mean, deviation)
        v = v if layer is None else v[layer]
        p.copy_(v.T if path.endswith("kernel") else v)
    return listed


def write(encoder, decoder, c, ids, limit):
    """Greedy tokens of one prompt with min-dalle's cache, logits of each step and the encoder's states."""
    n = c["image_length"]
    order = [1, 0]  # min-dalle has the empty prompt first
    states = encoder(ids[order])
    mask = ids[order].not_equal(1)[:, None, None, :]
    state = torch.zeros(c["decoder_layers"], 4, n, c["d_model"], dtype=states.dtype)
    tokens, steps = [c["decoder_start_token_id"]], []
    for i in range(n):
        both, state = decoder(mask, states, state, torch.tensor([[tokens[-1]]]), torch.tensor([i]))
        u, v = both[:, -1]
        steps.append(u + SCALE * (v - u))
        tokens.append(int(steps[-1][:limit].argmax()))
    whole, _ = decoder(mask, states, torch.zeros_like(state), torch.tensor([tokens[:-1]]), torch.arange(n))
    assert (whole[0] + SCALE * (whole[1] - whole[0]) - torch.stack(steps)).abs().max() < 2e-3 * torch.stack(steps).std()
    return tokens[1:], torch.stack(steps), states[order], whole[order]


def make(folder, c, v, scan, seed):
    folder.mkdir(parents=True, exist_ok=True)
    coder = vqgan.make(folder / "vqgan", v, True, seed)
    tok, c["encoder_vocab_size"] = tokenizer(folder)
    source.IMAGE_TOKEN_COUNT = c["image_length"]
    encoder = DalleBartEncoder(c["encoder_layers"], c["d_model"], c["encoder_attention_heads"], c["encoder_vocab_size"], c["max_text_length"], c["encoder_ffn_dim"], "cpu").eval()
    decoder = DalleBartDecoder(c["image_vocab_size"], c["d_model"], c["decoder_attention_heads"], c["decoder_ffn_dim"], c["decoder_layers"], "cpu").eval()
    listed = {**fill(encoder, "encoder", c["encoder_layers"], scan, seed), **fill(decoder, "decoder", c["decoder_layers"], scan, seed)}
    texts, ids = [], []
    for prompt in PROMPTS:
        e = tok.encode(prompt).ids
        texts.append({"text": prompt, "ids": e})
        e = e if len(e) <= c["max_text_length"] else e[: c["max_text_length"] - 1] + [2]
        rows = [r + [1] * (c["max_text_length"] - len(r)) for r in (e, [0, 2])]
        ids.append(torch.tensor(rows))
    results = [write(encoder, decoder, c, i, v["n_embed"]) for i in ids]
    encoder.double(), decoder.double()
    for i, r in zip(ids, results):
        if write(encoder, decoder, c, i, v["n_embed"])[0] != r[0]:
            return False
    tokens = torch.tensor([r[0] for r in results])
    out = {"ids": torch.stack(ids), "valid": torch.stack(ids).ne(1), "tokens": tokens, "logits": torch.stack([r[1] for r in results]),
           "states": torch.stack([r[2] for r in results]), "both.logits": results[0][3], "image": coder(tokens).permute(0, 2, 3, 1)}
    (folder / "config.json").write_text(json.dumps(c))
    (folder / "texts.json").write_text(json.dumps(texts))
    (folder / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
    save_file({k: x.float().contiguous() for k, x in out.items()}, folder / "golden.safetensors")
    banned = sum(int(x[v["n_embed"]:].max() > x[: v["n_embed"]].max()) for x in out["logits"].flatten(0, 1))
    print(folder.name, "seed", seed, "distinct tokens", [len(set(t)) for t in tokens.tolist()], f"steps where a banned token has the highest logit: {banned} of {tokens.numel()}")
    return True


BASE = dict(model_type="dallebart", d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4, decoder_attention_heads=4, encoder_ffn_dim=40, decoder_ffn_dim=40, image_vocab_size=48,
            image_length=16, max_text_length=24, decoder_start_token_id=48, activation_function="gelu", ln_positions="normformer", ln_type="layernorm", use_bias=False, use_glu=True, force_ln_scale=False,
            normalize_text=True, tie_word_embeddings=False, scale_embedding=False, do_sample=True)
CODER = dict(ch=32, out_ch=3, num_res_blocks=1, resolution=8, z_channels=8, ch_mult=[1, 1], attn_resolutions=[4], n_embed=48, embed_dim=8)

if __name__ == "__main__":
    out = pathlib.Path(sys.argv[1])
    for name, c, v, scan in (
        ("mini", BASE, CODER, False),
        ("mega", dict(BASE, image_vocab_size=55, decoder_start_token_id=50, encoder_layers=3, decoder_layers=3, use_scan=True, sinkhorn_iters=1, use_head_scale=False), CODER, True),
        ("odd", dict(BASE, d_model=24, encoder_attention_heads=2, decoder_attention_heads=3, encoder_layers=1, decoder_layers=2, encoder_ffn_dim=30, decoder_ffn_dim=50, max_text_length=9, image_length=9,
                     image_vocab_size=64, decoder_start_token_id=63), dict(CODER, resolution=6, ch_mult=[1, 1], attn_resolutions=[3], n_embed=40), True),
    ):
        seed = SEED
        while not make(out / name, dict(c), v, scan, seed):
            seed += 1

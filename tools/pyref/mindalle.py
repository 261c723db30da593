#!/usr/bin/env python3
"""Goldens for gomlxmodels/mindalle: small random minDALL-Es as released, but for the weights, which both sides compute from
tensors.json (stage 2 in the folder, stage 1 in stage1).

    python tools/pyref/mindalle.py gomlxmodels/mindalle/testdata

The network is written here from its description: the release needs libraries of 2021. golden.safetensors: ids [P,S], logits
[P,N,V] of each step of greedy search, tokens [P,N], image [P,H,W,3]; logits are of one pass over all tokens, without a cache.
texts.json: prompts with their tokens by the CharBPETokenizer of the tokenizers library.

Versions: torch 2.15.0, tokenizers 0.23, safetensors, Python 3.11+. Seed 20211214. Torch runs on one thread in float32.
"""

import json
import pathlib
import sys

import torch
import torch.nn.functional as F
from safetensors.torch import save_file
from tokenizers import CharBPETokenizer
from torch import nn

import vqgan

torch.set_num_threads(1)
torch.set_grad_enabled(False)
SEED = 20211214
PROMPTS = ["A photo of a CHEF", "", "three red houses, by the sea: in the evening sun, café 海 !?", "a b c d e f g h i j k l m n o p q r s t u v w"]


class Block(nn.Module):
    def __init__(self, width, heads):
        super().__init__()
        self.heads = heads
        self.ln1, self.ln2 = nn.LayerNorm(width), nn.LayerNorm(width)
        self.attn = nn.Module()
        for name in ("key", "query", "value", "proj"):
            setattr(self.attn, name, nn.Linear(width, width))
        self.mlp = nn.Sequential(nn.Linear(width, 4 * width), nn.GELU(), nn.Linear(4 * width, width))

    def forward(self, x):
        y = self.ln1(x)
        q, k, v = (f(y).unflatten(-1, (self.heads, -1)).transpose(1, 2) for f in (self.attn.query, self.attn.key, self.attn.value))
        scores = q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5
        scores = scores.masked_fill(torch.ones(scores.shape[-2:]).tril() == 0, float("-inf"))
        x = x + self.attn.proj((scores.softmax(-1) @ v).transpose(1, 2).flatten(2))
        return x + self.mlp(self.ln2(x))


class GPT(nn.Module):
    def __init__(self, texts, images, width, layers, heads, text_length, image_length):
        super().__init__()
        self.tok_emb_img, self.tok_emb_txt = nn.Embedding(images, width), nn.Embedding(texts, width)
        self.pos_emb_img, self.pos_emb_txt = nn.Embedding(image_length, width), nn.Embedding(text_length, width)
        self.blocks = nn.Sequential(*(Block(width, heads) for _ in range(layers)))
        self.ln_f = nn.LayerNorm(width)
        self.head_img, self.head_txt = nn.Linear(width, images, bias=False), nn.Linear(width, texts, bias=False)

    def forward(self, text, image):
        """Logits after the text's last token and after each of the image's."""
        x = self.tok_emb_txt(text) + self.pos_emb_txt.weight[: text.shape[1]]
        if image.shape[1]:
            x = torch.cat([x, self.tok_emb_img(image) + self.pos_emb_img.weight[: image.shape[1]]], 1)
        return self.head_img(self.ln_f(self.blocks(x)))[:, text.shape[1] - 1 :]


def spread(name, shape):
    if ".ln" in name or name.startswith("ln_f"):
        return (1.0, 0.3) if name.endswith("weight") else (0.0, 0.3)
    if "emb" in name:
        return 0.0, 3.0 if "pos" in name else 1.0
    return (0.0, 0.3) if name.endswith("bias") else (0.0, (3.0 if "head" in name else 1.3) * shape[-1] ** -0.5)


def tokenizer(folder, size, length):
    t = CharBPETokenizer(unk_token="[UNK]", lowercase=True)
    t.train_from_iterator(["a photo of a chef", "three red houses by the sea in the evening sun", "café, red: sea!"], vocab_size=size, special_tokens=["[UNK]", "[PAD]"], min_frequency=1, show_progress=False)
    folder.mkdir(parents=True, exist_ok=True)
    t.save_model(str(folder), "bpe-16k")
    t = CharBPETokenizer.from_file(str(folder / "bpe-16k-vocab.json"), str(folder / "bpe-16k-merges.txt"), unk_token="[UNK]", lowercase=True, dropout=None)
    t.add_special_tokens(["[PAD]"])
    t.enable_padding(length=length, pad_id=t.token_to_id("[PAD]"))
    t.enable_truncation(max_length=length)
    return t


def make(folder, c, seed):
    folder.mkdir(parents=True, exist_ok=True)
    tok = tokenizer(folder / "tokenizer", c["texts"], c["text_length"])
    coder = vqgan.make(folder / "stage1", c["coder"], False, seed)
    (folder / "stage1" / "config.json").unlink()
    model = GPT(c["texts"], c["coder"]["n_embed"], c["width"], c["layers"], c["heads"], c["text_length"], c["image_length"]).eval()
    listed = {}
    for name, p in model.named_parameters():
        mean, deviation = spread(name, list(p.shape))
        p.copy_(vqgan.value(seed, name, list(p.shape), mean, deviation))
        listed[name] = [list(p.shape), mean, deviation]
    ids = torch.tensor([tok.encode(p).ids for p in PROMPTS])

    def greedy(dtype):
        model.to(dtype)
        image = torch.zeros(len(ids), 0, dtype=torch.long)
        for _ in range(c["image_length"]):
            image = torch.cat([image, model(ids, image)[:, -1].argmax(-1, keepdim=True)], 1)
        return image

    tokens = greedy(torch.float32)
    logits = model(ids, tokens[:, :-1])
    if not torch.equal(greedy(torch.float64), tokens):
        return False
    v = c["coder"]
    (folder / "config.yaml").write_text(f"""# small and random
stage1:
  type: vqgan
  embed_dim: {v['embed_dim']}
  n_embed: {v['n_embed']}
  hparams:
    double_z: False
    z_channels: {v['z_channels']}
    resolution: {v['resolution']}
    in_channels: 3
    out_ch: 3
    ch: {v['ch']}
    ch_mult: {v['ch_mult']}
    num_res_blocks: {v['num_res_blocks']}
    attn_resolutions: {v['attn_resolutions']}
    pdrop: 0.0

stage2:
  type: transformer1d
  vocab_size_txt: {c['texts']}
  vocab_size_img: {v['n_embed']}
  hparams:
    embed_dim: {c['width']}
    n_layers: {c['layers']}
    n_heads: {c['heads']}
    n_dense_layers: {c['layers']}
    ctx_len_img: {c['image_length']}
    ctx_len_txt: {c['text_length']}
    mlp_bias: True
    attn_bias: True
    gelu_use_approx: False

dataset:
  context_length: {c['text_length']}
""")
    (folder / "tensors.json").write_text(json.dumps({"seed": seed, "tensors": listed}, separators=(",", ":")))
    (folder / "texts.json").write_text(json.dumps([{"text": p, "ids": i} for p, i in zip(PROMPTS, ids.tolist())]))
    save_file({"ids": ids.float(), "tokens": tokens.float(), "logits": logits.contiguous(), "image": coder(tokens).permute(0, 2, 3, 1).contiguous()}, folder / "golden.safetensors")
    print(folder.name, "seed", seed, "distinct tokens", [len(set(t)) for t in tokens.tolist()])
    return True


CODER = dict(ch=32, out_ch=3, num_res_blocks=1, resolution=8, z_channels=8, ch_mult=[1, 1], attn_resolutions=[4], n_embed=90, embed_dim=8)

if __name__ == "__main__":
    for name, c in (
        ("tiny", dict(texts=80, width=32, layers=2, heads=4, text_length=16, image_length=16, coder=CODER)),
        ("odd", dict(texts=60, width=24, layers=3, heads=3, text_length=11, image_length=9, coder=dict(CODER, resolution=6, attn_resolutions=[3], n_embed=70, embed_dim=4))),
        ("deep", dict(texts=75, width=16, layers=5, heads=1, text_length=20, image_length=16, coder=CODER)),
    ):
        seed = SEED
        while not make(pathlib.Path(sys.argv[1]) / name, c, seed):
            seed += 1

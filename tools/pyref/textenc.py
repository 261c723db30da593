#!/usr/bin/env python3
"""Goldens for gomlxmodels/textenc: small random text encoders of every family, saved as transformers, sentence-transformers and
multilingual-clip save them, with what every stage gives; and MPNet's buckets of distances.

    python tools/pyref/textenc.py gomlxmodels/textenc/testdata

Versions: torch 2.15.0, transformers 5.23.0, sentence-transformers 6.2.0, safetensors, Python 3.11+. Seed 20191105 (per
configuration: + its number). Torch runs on one thread in float32.

golden.safetensors of a folder: ids, mask, positions [n,S]; embedded, block_0 … [n,S,D]; module_0 … [n,·] after every module of the Go
side's list; vector [n,·].
"""

import json
import pathlib
import shutil
import sys

import torch
from safetensors.torch import load_file, save_file
from sentence_transformers.base.modules.dense import Dense
from sentence_transformers.base.modules.normalize import Normalize
from sentence_transformers.sentence_transformer.modules.layer_norm import LayerNorm
from sentence_transformers.sentence_transformer.modules.pooling import Pooling
from transformers import (
    AltCLIPConfig, AltCLIPModel, AltCLIPTextConfig, AltCLIPTextModel, BertConfig, BertForPreTraining, BertModel, CamembertConfig, CamembertModel, DistilBertConfig,
    DistilBertForMaskedLM, DistilBertModel, MPNetConfig, MPNetForMaskedLM, MPNetModel, RobertaConfig, RobertaModel, XLMRobertaConfig,
    XLMRobertaForMaskedLM, XLMRobertaModel)

torch.set_num_threads(1)
SEED = 20191105
SMALL = dict(hidden_size=16, intermediate_size=24, num_hidden_layers=2, num_attention_heads=4, vocab_size=50, max_position_embeddings=20)


def shake(model, generator):
    """Random values in every parameter, so that none is at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            wide = p.ndim >= 2 and "embeddings" not in name and "relative" not in name
            p.normal_(0, p[0].numel() ** -0.5 * 1.5 if wide else 0.5, generator=generator)
            if p.ndim == 1 and name.endswith("weight"):
                p.add_(1)
    return model.eval()


def rows(length, vocab, pad, left, generator, inner=False):
    """Three texts: one of full length, one of three tokens, one between; pad elsewhere, and inside the first where asked."""
    ids = torch.randint(4, vocab, (3, length), generator=generator)
    mask = torch.ones(3, length, dtype=torch.long)
    for row, n in enumerate((length, 3, length // 2 + 1)):
        if left:
            mask[row, : length - n] = 0
        else:
            mask[row, n:] = 0
    ids[mask == 0] = pad
    if inner:
        ids[0, length // 2] = pad
    return ids, mask


def golden(folder, body, ids, mask, modules, config):
    """body is the bare transformer; modules are functions from features, as sentence-transformers passes them on, to features."""
    out, hooks = {}, []

    def keep(name):
        def hook(_, __, result):
            out[name] = result[0] if isinstance(result, tuple) else result

        return hook

    hooks.append(body.embeddings.register_forward_hook(keep("embedded")))
    blocks = [m for n, m in body.named_modules() if n.split(".")[-1].isdigit()]
    assert len(blocks) == config.num_hidden_layers
    for i, layer in enumerate(blocks):
        hooks.append(layer.register_forward_hook(keep(f"block_{i}")))
    positions = []
    hooks.append(body.embeddings.position_embeddings.register_forward_hook(lambda _, args, __: positions.append(args[0])))
    with torch.inference_mode():
        result = body(input_ids=ids, attention_mask=mask)
        for h in hooks:
            h.remove()
        features = {"token_embeddings": result.last_hidden_state, "attention_mask": mask, "result": result}
        for i, m in enumerate(modules):
            features = m(features)
            out[f"module_{i}"] = features["sentence_embedding"]
        out["vector"] = features["sentence_embedding"]
    out["ids"], out["mask"], out["positions"] = ids, mask, positions[0].expand(ids.shape)
    save_file({k: v.float().contiguous().clone() for k, v in out.items()}, folder / "golden.safetensors")


def sentence_folder(folder, modules, old):
    """The folders of sentence-transformers around a saved transformer; old as its version 2 wrote them."""
    lines = [{"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"}]
    for i, m in enumerate(modules):
        name = type(m).__name__
        path = f"{i + 1}_{name}"
        (folder / path).mkdir()
        if not old or name not in ("Pooling", "Normalize"):
            m.save(str(folder / path))
        elif name == "Pooling":
            chosen = [m.pooling_mode] if isinstance(m.pooling_mode, str) else m.pooling_mode
            flags = {"cls_token": "cls", "mean_tokens": "mean", "max_tokens": "max", "mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
                     "weightedmean_tokens": "weightedmean", "lasttoken": "lasttoken"}
            (folder / path / "config.json").write_text(json.dumps({"word_embedding_dimension": m.embedding_dimension, **{"pooling_mode_" + k: v in chosen for k, v in flags.items()}}))
        kind = f"sentence_transformers.models.{name}" if old else f"{type(m).__module__}.{name}"
        lines.append({"idx": i + 1, "name": str(i + 1), "path": path, "type": kind})
    (folder / "modules.json").write_text(json.dumps(lines, indent=1))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 16, "do_lower_case": False} if old else {"transformer_task": "feature-extraction"}))


def cls_of(features):
    return {**features, "sentence_embedding": features["token_embeddings"][:, 0]}


def first_kept(features):
    return {**features, "sentence_embedding": features["token_embeddings"][torch.arange(len(features["attention_mask"])), features["attention_mask"].argmax(1)]}


class MCLIP(torch.nn.Module):
    """multilingual-clip's MultilingualCLIP: the mean of the tokens, then LinearTransformation."""

    def __init__(self, config, width):
        super().__init__()
        self.transformer = XLMRobertaModel(config)
        self.LinearTransformation = torch.nn.Linear(config.hidden_size, width)


def main(root):
    root = pathlib.Path(root)
    shutil.rmtree(root, ignore_errors=True)
    number = 0

    def start(name):
        nonlocal number
        number += 1
        (root / name).mkdir(parents=True)
        return root / name, torch.Generator().manual_seed(SEED + number)

    def make(name, model, *, body=None, modules=None, old=False, pooler=False, length=12, left=False, inner=False, half=False, **saving):
        folder, g = start(name)
        shake(model, g)
        body = getattr(model, body) if body else model
        config = body.config
        if half:
            model.to(torch.bfloat16)
        model.save_pretrained(folder, **saving)
        model.float()
        ids, mask = rows(length, config.vocab_size, config.pad_token_id, left, g, inner)
        if modules:
            for m in modules:
                shake(m, g)
            sentence_folder(folder, modules, old)
        elif pooler:
            modules = [first_kept, lambda f: {**f, "sentence_embedding": torch.tanh(body.pooler.dense(f["sentence_embedding"]))}]
            if not left:
                modules.append(lambda f: {**f, "sentence_embedding": f["result"].pooler_output})  # the library's own must be the same
        else:
            modules = [Pooling(config.hidden_size, "mean")]
        golden(folder, body, ids, mask, modules, config)
        return folder

    mean = [Pooling(16, "mean"), Normalize()]
    make("bert-mean", BertModel(BertConfig(**SMALL)), modules=mean, old=True)
    make("bert-joined-dense", BertModel(BertConfig(**{**SMALL, "num_hidden_layers": 3, "num_attention_heads": 2, "hidden_act": "relu", "type_vocab_size": 1, "layer_norm_eps": 1e-5})),
         modules=[Pooling(16, ("cls", "max", "lasttoken")), Dense(48, 10), LayerNorm(10), Dense(10, 7, bias=False, activation_function=torch.nn.GELU()), Normalize()], left=True)
    folder = make("bert-first-hub", BertForPreTraining(BertConfig(**{**SMALL, "hidden_act": "gelu_new", "num_attention_heads": 1, "type_vocab_size": 3, "pad_token_id": 2})), body="bert", pooler=True)
    tensors = {k.replace("LayerNorm.weight", "LayerNorm.gamma").replace("LayerNorm.bias", "LayerNorm.beta"): v for k, v in load_file(folder / "model.safetensors").items()}
    tensors["bert.embeddings.position_ids"] = torch.arange(20)[None]
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})

    make("mpnet-far", MPNetModel(MPNetConfig(**{**SMALL, "max_position_embeddings": 154})), length=150, pooler=True)
    make("mpnet-joined", MPNetForMaskedLM(MPNetConfig(**{**SMALL, "num_attention_heads": 1, "hidden_act": "gelu_new", "layer_norm_eps": 1e-5})), body="mpnet",
         modules=[Pooling(16, ("mean", "mean_sqrt_len_tokens", "weightedmean")), Dense(48, 12, activation_function=torch.nn.Identity())], old=True, left=True)
    make("mpnet-bf16-shards", MPNetModel(MPNetConfig(**{**SMALL, "num_hidden_layers": 1, "num_attention_heads": 8, "relative_attention_num_buckets": 40})),
         modules=[Pooling(16, "weightedmean"), Normalize()], half=True, max_shard_size="4KB")

    make("xlmr-inner-pad", XLMRobertaModel(XLMRobertaConfig(**SMALL)), inner=True)
    make("roberta-left", RobertaModel(RobertaConfig(**{**SMALL, "pad_token_id": 3, "type_vocab_size": 3, "hidden_act": "relu", "num_attention_heads": 2}), add_pooling_layer=False),
         modules=[Pooling(16, "cls"), Normalize()], left=True)
    make("xlmr-masked-lm", XLMRobertaForMaskedLM(XLMRobertaConfig(**{**SMALL, "num_hidden_layers": 1, "type_vocab_size": 1, "layer_norm_eps": 1e-5})), body="roberta")
    make("camembert-pooler", CamembertModel(CamembertConfig(**{**SMALL, "hidden_act": "silu", "num_hidden_layers": 3})), pooler=True)

    small = dict(dim=16, hidden_dim=24, n_layers=2, n_heads=4, vocab_size=50, max_position_embeddings=20)
    make("distilbert-mean", DistilBertModel(DistilBertConfig(**small)), modules=mean)
    make("distilbert-masked-lm", DistilBertForMaskedLM(DistilBertConfig(**{**small, "n_heads": 2, "activation": "relu"})), body="distilbert")
    make("distilbert-deep", DistilBertModel(DistilBertConfig(**{**small, "n_layers": 3, "n_heads": 1, "sinusoidal_pos_embds": True})), modules=[Pooling(16, "max")], left=True)

    vision = dict(hidden_size=8, intermediate_size=12, num_hidden_layers=1, num_attention_heads=2, image_size=8, patch_size=4)
    for name, text, width, left in (("altclip", dict(project_dim=12), 6, False), ("altclip-left", dict(project_dim=16, hidden_act="relu", num_attention_heads=2, layer_norm_eps=1e-12), 9, True),
                                    ("altclip-deep", dict(project_dim=5, num_hidden_layers=3, num_attention_heads=1, type_vocab_size=2, pad_token_id=0), 5, False)):
        folder, g = start(name)
        m = shake(AltCLIPModel(AltCLIPConfig(text_config={**SMALL, **text}, vision_config=vision, projection_dim=width)), g)
        m.save_pretrained(folder)
        t = m.text_model
        ids, mask = rows(12, 50, t.config.pad_token_id, left, g)
        modules = [first_kept, lambda f: {**f, "sentence_embedding": t.pre_LN(f["sentence_embedding"])}, lambda f: {**f, "sentence_embedding": t.transformation(f["sentence_embedding"])},
                   lambda f: {**f, "sentence_embedding": m.text_projection(f["sentence_embedding"])}]
        if not left:  # the library's own must be the same
            modules[2] = lambda f: {**f, "sentence_embedding": t(input_ids=ids, attention_mask=mask).pooler_output}
            modules[3] = lambda f: {**f, "sentence_embedding": m.get_text_features(input_ids=ids, attention_mask=mask).pooler_output}
        golden(folder, t.roberta, ids, mask, modules, t.config)
    folder, g = start("altclip-text-alone")
    t = shake(AltCLIPTextModel(AltCLIPTextConfig(**{**SMALL, "project_dim": 7})), g)
    t.save_pretrained(folder)
    ids, mask = rows(12, 50, 1, False, g)
    golden(folder, t.roberta, ids, mask, [cls_of, lambda f: {**f, "sentence_embedding": t.pre_LN(f["sentence_embedding"])},
                                          lambda f: {**f, "sentence_embedding": t(input_ids=ids, attention_mask=mask).pooler_output}], t.config)

    for name, kw, width in (("mclip", {}, 6), ("mclip-deep", dict(num_hidden_layers=3, num_attention_heads=2, layer_norm_eps=1e-5, type_vocab_size=1), 20), ("mclip-relu", dict(hidden_act="relu", num_hidden_layers=1, pad_token_id=2), 16)):
        folder, g = start(name)
        m = shake(MCLIP(XLMRobertaConfig(**{**SMALL, **kw}), width), g)
        save_file({k: v.contiguous() for k, v in m.state_dict().items()}, folder / "model.safetensors")
        m.transformer.config.save_pretrained(folder / "xlm-roberta-tiny")
        (folder / "config.json").write_text(json.dumps({"architectures": ["MultilingualCLIP"], "modelBase": "xlm-roberta-tiny", "model_type": "M-CLIP", "numDims": width,
                                                        "transformerDimensions": 16, "transformers_version": "4.8.1"}))
        ids, mask = rows(12, 50, m.transformer.config.pad_token_id, name == "mclip-deep", g)

        def pool(f):
            kept = f["attention_mask"]
            return {**f, "sentence_embedding": (f["token_embeddings"] * kept.unsqueeze(2)).sum(dim=1) / kept.sum(dim=1)[:, None]}

        golden(folder, m.transformer, ids, mask, [pool, lambda f: {**f, "sentence_embedding": m.LinearTransformation(f["sentence_embedding"])}], m.transformer.config)

    from transformers.models.mpnet.modeling_mpnet import MPNetEncoder
    distances = torch.arange(-600, 601)  # key − query
    save_file({"distances": distances.float(), "buckets": MPNetEncoder.relative_position_bucket(distances).float()}, root / "distances.safetensors")
    print(json.dumps({str(p.relative_to(root)): sum(f.stat().st_size for f in p.rglob("*") if f.is_file()) for p in sorted(root.iterdir())}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

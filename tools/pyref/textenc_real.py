#!/usr/bin/env python3
"""Text encoders at real size, and a real one, for the checks of gomlxmodels/textenc.

    python tools/pyref/textenc_real.py random FOLDER
    python tools/pyref/textenc_real.py similarities MODEL DATA FOLDER

random saves, with random weights, a model of all-mpnet-base-v2's shape (FOLDER/mpnet, as sentence-transformers saves it) and M-CLIP's XLM-R
large tower (FOLDER/mclip), each with golden.safetensors: ids and mask [n,S], vector [n,·]. similarities writes FOLDER/pairs.json: at least
500 pairs of captions out of the house's data folders (EntiGen's prompts, DIG-In's prompts, CoCo-CroLa's concepts in seven languages, in
frames), the cosine that sentence-transformers gives them, and their token ids.

Versions: torch 2.15.0, transformers 5.23.0, sentence-transformers 6.2.0, safetensors, Python 3.11+. Seed 20200420.
"""

import csv
import json
import pathlib
import random
import sys

import torch

SEED = 20200420


def stir(model, generator):
    with torch.no_grad():
        for name, p in model.named_parameters():
            if p.ndim == 2 and "embeddings" not in name:
                p.normal_(0, p.shape[1] ** -0.5, generator=generator)
            else:
                p.add_(torch.randn(p.shape, generator=generator) * 0.1)
    return model.eval()


def make(root):
    from safetensors.torch import save_file
    from transformers import MPNetConfig, MPNetModel, XLMRobertaConfig, XLMRobertaModel

    g = torch.Generator().manual_seed(SEED)

    def texts(vocab, lengths):
        ids = torch.randint(5, vocab, (len(lengths), max(lengths)), generator=g)
        mask = (torch.arange(max(lengths))[None] < torch.tensor(lengths)[:, None]).long()
        return ids.masked_fill(mask == 0, 1), mask

    def mean(model, ids, mask):
        x = model(input_ids=ids, attention_mask=mask).last_hidden_state
        return (x * mask[..., None]).sum(1) / mask.sum(1, keepdim=True)

    def keep(folder, ids, mask, vector):
        save_file({"ids": ids.float(), "mask": mask.float(), "vector": vector.contiguous()}, folder / "golden.safetensors")

    folder = root / "mpnet"
    model = stir(MPNetModel(MPNetConfig(max_position_embeddings=514, layer_norm_eps=1e-5)), g)
    model.save_pretrained(folder)
    for name, config in (("1_Pooling", {"word_embedding_dimension": 768, "pooling_mode_mean_tokens": True}), ("2_Normalize", {})):
        (folder / name).mkdir(exist_ok=True)
        (folder / name / "config.json").write_text(json.dumps(config))
    (folder / "modules.json").write_text(json.dumps([{"path": p, "type": "sentence_transformers.models." + t} for p, t in (("", "Transformer"), ("1_Pooling", "Pooling"), ("2_Normalize", "Normalize"))]))
    (folder / "sentence_bert_config.json").write_text(json.dumps({"max_seq_length": 384, "do_lower_case": False}))
    ids, mask = texts(30527, [9, 64, 31, 200, 12, 5])
    with torch.inference_mode():
        keep(folder, ids, mask, torch.nn.functional.normalize(mean(model, ids, mask)))
    del model

    folder = root / "mclip"
    folder.mkdir(exist_ok=True)
    model = stir(XLMRobertaModel(XLMRobertaConfig(vocab_size=250002, hidden_size=1024, intermediate_size=4096, num_hidden_layers=24, num_attention_heads=16,
                                                  max_position_embeddings=514, type_vocab_size=1, layer_norm_eps=1e-5)), g)
    linear = stir(torch.nn.Linear(1024, 768), g)
    save_file({**{"transformer." + k: v for k, v in model.state_dict().items()}, **{"LinearTransformation." + k: v for k, v in linear.state_dict().items()}}, folder / "model.safetensors")
    (folder / "config.json").write_text(json.dumps({"model_type": "M-CLIP", "modelBase": "xlm-roberta-large", "numDims": 768, "transformerDimensions": 1024}))
    ids, mask = texts(250002, [9, 40, 17])
    with torch.inference_mode():
        keep(folder, ids, mask, linear(mean(model, ids, mask)))


def similarities(model, data, root):
    import sentence_transformers

    rng = random.Random(SEED)
    captions = []
    with open(data / "entigen" / "prompt.csv", newline="", encoding="utf-8") as f:
        captions += [r["Sentence"] for r in csv.DictReader(f)]
    with open(data / "dig_in" / "geode_prompts_countries_fulldataset.csv", newline="", encoding="utf-8") as f:
        captions += sorted({r["prompt"] for r in csv.DictReader(f)})[:800]
    with open(data / "cococrola" / "benchmark" / "v0-1" / "concepts.csv", newline="", encoding="utf-8") as f:
        captions += [frame.format(w) for r in csv.reader(f) for w in r if w for frame in ("a photo of {}", "{}, a picture taken in the street")][:1200]
    captions = list(dict.fromkeys(captions))
    pairs = [rng.sample(captions, 2) for _ in range(500)]
    pairs += [[c, "a photograph showing " + c] for c in rng.sample(captions, 100)]
    st = sentence_transformers.SentenceTransformer(str(model), device="cpu")
    a, b = (torch.tensor(st.encode([p[i] for p in pairs], normalize_embeddings=True)).double() for i in (0, 1))
    ids = [[st.tokenizer(t, truncation=True, max_length=st.max_seq_length).input_ids for t in p] for p in pairs]
    lines = [{"texts": p, "ids": i, "similarity": s} for p, i, s in zip(pairs, ids, (a * b).sum(1).tolist())]
    (root / "pairs.json").write_text(json.dumps(lines))
    print(len(pairs), "pairs of", len(captions), "captions; sentence-transformers", sentence_transformers.__version__)


if __name__ == "__main__":
    paths = [pathlib.Path(p) for p in sys.argv[2:]]
    paths[-1].mkdir(parents=True, exist_ok=True)
    {"random": make, "similarities": similarities}[sys.argv[1]](*paths)

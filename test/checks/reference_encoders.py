"""Encoders of pictures and texts as transformers and sentence-transformers save them, and what the libraries make of them.

    python reference_encoders.py make DIR SIZE SEED    DIR/NAME (a model folder), DIR/images.csv, DIR/texts.csv, DIR/reference/model.safetensors
    python reference_encoders.py compare DIR           reads DIR/NAME.COLUMN.parquet with pandas; exit status 1 where a difference is beyond its bound
    python reference_encoders.py list DIR              the runs to make: NAME COLUMN, a line each

SIZE "real" is CLIP B/32 and L/14, all-mpnet-base-v2 and an XLM-R large; "small" draws the configurations of SEED: widths, heads, layers, patches,
activations, pooling; "tiny" is what kernel/backend/all/testdata/encoders holds (seed 1; torch 2.15.0, transformers 5.23.0). Weights are random in all. Texts: 15 scripts, empty, long, with emoji and combining marks.
Bound: 1e-4 of the largest value for texts and lossless pictures.
"""

import csv
import json
import pathlib
import random
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

TEXTS = [
    "a photo of a dog", "", "A  Photo,\tof the Cat's 3 toys!", "एक कुत्ते की तस्वीर", "একটি কুকুরের ছবি", "ஒரு நாயின் புகைப்படம்", "ఒక కుక్క ఫోటో", "ನಾಯಿಯ ಫೋಟೋ",
    "ഒരു നായയുടെ ഫോട്ടോ", "કૂતરાનો ફોટો", "ਕੁੱਤੇ ਦੀ ਫੋਟੋ", "କୁକୁରର ଫଟୋ", "ᱥᱮᱛᱟ ᱨᱮᱱᱟᱜ ᱪᱤᱛᱟᱹᱨ", "ꯍꯨꯏꯒꯤ ꯐꯣꯇꯣ", "کتے کی تصویر", "一张狗的照片", "犬の写真", "תמונה של כלב",
    "фото собаки", "Ein Foto eines Hundes", "👩🏽‍🚀 and 🇮🇳 in the café", "e\u0301te\u0301 cafe\u0301", "word " * 200, "x" * 900, "<|endoftext|> [SEP] </s> <mask>",
]


def write(path, rows):
    with open(path, "w", newline="", encoding="utf-8") as f:
        csv.writer(f).writerows(rows)


def pictures(root, rng, most):
    from PIL import Image

    rows = [["id", "image"]]
    for i in range(8):
        w, h = (int(v) for v in rng.integers(40, most, 2))
        y, x = np.mgrid[0:h, 0:w]
        waves = [np.sin(x * rng.uniform(0.01, 0.1) + y * rng.uniform(-0.1, 0.1) + rng.uniform(0, 6)) for _ in range(3)]
        img = Image.fromarray((127 + 110 * np.stack(waves, -1)).clip(0, 255).astype(np.uint8))
        if i % 3 == 1:
            img = img.convert("L")
        elif i % 3 == 2:
            img.putalpha(255)
        img.save(root / f"{i}.png")
        rows.append([f"p{i}", f"{i}.png"])
    write(root / "images.csv", rows)
    return [Image.open(root / r[1]).convert("RGB") for r in rows[1:]]


def stir(model, seed):
    """Random weights under which inputs differ in the output, and no parameter left at 0 or 1."""
    import torch

    g = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for p in model.parameters():
            if p.dim():
                p.add_(torch.randn(p.shape, generator=g) * (0.02 if p.dim() > 1 else 0.05))
    return model.eval()


def byte_pairs(root, size):
    """A CLIP tokenizer learnt from TEXTS."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers, Regex
    from transformers import CLIPTokenizer

    t = Tokenizer(models.BPE(end_of_word_suffix="</w>", unk_token="<|endoftext|>"))
    t.normalizer = normalizers.Sequence([normalizers.NFC(), normalizers.Replace(Regex(r"\s+"), " "), normalizers.Lowercase()])
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.Split(Regex(r"'s|'t|'re|'ve|'m|'ll|'d|[\p{L}]+|[\p{N}]|[^\s\p{L}\p{N}]+"), "removed", invert=True), pre_tokenizers.ByteLevel(add_prefix_space=False)])
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    t.train_from_iterator(TEXTS * 3, trainers.BpeTrainer(vocab_size=size - 2, initial_alphabet=alphabet, end_of_word_suffix="</w>", show_progress=False))
    learnt = json.loads(t.to_str())["model"]
    vocab = list(learnt["vocab"])
    for c in alphabet:  # the byte alone and as a word's end
        for token in (c, c + "</w>"):
            if token not in vocab:
                vocab.append(token)
    vocab += ["<|startoftext|>", "<|endoftext|>"]
    (root / "vocab.json").write_text(json.dumps({v: i for i, v in enumerate(vocab)}), encoding="utf-8")
    merges = [m if isinstance(m, str) else " ".join(m) for m in learnt["merges"]]
    (root / "merges.txt").write_text("#version: 0.2\n" + "\n".join(merges) + "\n", encoding="utf-8")
    return CLIPTokenizer(str(root / "vocab.json"), str(root / "merges.txt"))


def clip(root, config, size, seed, images, result, name):
    import torch
    from transformers import CLIPImageProcessor, CLIPModel

    folder = root / name
    folder.mkdir()
    tokenizer = byte_pairs(folder, 1200 if size != "tiny" else 640)
    config.text_config.vocab_size = len(tokenizer)
    config.text_config.bos_token_id, config.text_config.eos_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id
    config.text_config.pad_token_id = tokenizer.pad_token_id
    model = stir(CLIPModel(config), seed)
    side = config.vision_config.image_size
    processor = CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    for part in (model, tokenizer, processor):
        part.save_pretrained(folder)
    with torch.inference_mode():
        vectors = []
        for img in images:
            out = model.get_image_features(**processor(img, return_tensors="pt"))
            vectors.append(getattr(out, "pooler_output", out)[0].numpy())
        result[f"{name}/clip_image"] = np.stack(vectors)
        vectors = []
        for text in TEXTS:
            ids = tokenizer(text, truncation=True, max_length=config.text_config.max_position_embeddings, return_tensors="pt")
            out = model.get_text_features(**ids)
            vectors.append(getattr(out, "pooler_output", out)[0].numpy())
        result[f"{name}/clip_text"] = np.stack(vectors)


def clips(size, rng):
    from transformers import CLIPConfig

    if size == "real":
        yield "clip-b32", CLIPConfig()
        large = dict(num_hidden_layers=24, num_attention_heads=16, hidden_size=1024, intermediate_size=4096, patch_size=14)
        yield "clip-l14", CLIPConfig(text_config=dict(hidden_size=768, intermediate_size=3072, num_attention_heads=12), vision_config=large, projection_dim=768)
        return
    if size == "tiny":
        small = dict(hidden_size=16, num_attention_heads=2, num_hidden_layers=2, intermediate_size=24)
        yield "clip", CLIPConfig(text_config=dict(small, max_position_embeddings=24), vision_config=dict(small, image_size=32, patch_size=8), projection_dim=12)
        return
    for i in range(3):
        heads = rng.choice([2, 3, 4, 8])
        act = rng.choice(["quick_gelu", "gelu", "gelu_new", "gelu_pytorch_tanh"])
        patch = rng.choice([8, 14, 16])
        vision = dict(hidden_size=heads * rng.choice([8, 12, 16]), num_attention_heads=heads, num_hidden_layers=rng.randint(1, 4), intermediate_size=rng.randint(20, 200),
                      patch_size=patch, image_size=patch * rng.randint(2, 7) + rng.choice([0, 0, 3]), hidden_act=act, layer_norm_eps=rng.choice([1e-5, 1e-6]))
        heads = rng.choice([1, 2, 5])
        text = dict(hidden_size=heads * rng.choice([8, 10, 24]), num_attention_heads=heads, num_hidden_layers=rng.randint(1, 4), intermediate_size=rng.randint(20, 200),
                    max_position_embeddings=rng.choice([12, 32, 77, 248]), hidden_act=act)
        yield f"clip-{i}", CLIPConfig(text_config=text, vision_config=vision, projection_dim=rng.randint(8, 96))


def word_pieces(root, size, kind):
    """A BERT or MPNet tokenizer learnt from TEXTS."""
    from tokenizers import BertWordPieceTokenizer
    from transformers import BertTokenizer, MPNetTokenizer

    t = BertWordPieceTokenizer()
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"] if kind == "bert" else ["<s>", "<pad>", "</s>", "<unk>", "[UNK]", "<mask>"]
    t.train_from_iterator(TEXTS * 3, vocab_size=size, min_frequency=1, special_tokens=special, show_progress=False)
    vocab = t.get_vocab()
    (root / "vocab.txt").write_text("\n".join(sorted(vocab, key=vocab.get)) + "\n", encoding="utf-8")
    return {"bert": BertTokenizer, "mpnet": MPNetTokenizer}[kind](str(root / "vocab.txt"))


def unigrams(root, size):
    """An XLM-R tokenizer learnt from TEXTS."""
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, trainers
    from transformers import XLMRobertaTokenizer

    t = Tokenizer(models.Unigram())
    t.normalizer, t.pre_tokenizer = normalizers.NFKC(), pre_tokenizers.Metaspace()
    t.train_from_iterator(TEXTS * 3, trainers.UnigramTrainer(vocab_size=size, unk_token="<unk>", special_tokens=["<s>", "<pad>", "</s>", "<unk>"], show_progress=False))
    vocab = [tuple(v) for v in json.loads(t.to_str())["model"]["vocab"]]
    return XLMRobertaTokenizer(vocab=vocab + [("<mask>", 0.0)])


def sentence(root, kind, config, modules, size, seed, result, name):
    """A sentence-transformers folder: kind is the family, modules the pooling mode and what follows."""
    import torch
    from sentence_transformers import SentenceTransformer
    from sentence_transformers import models as parts
    from transformers import AutoModel

    scratch = root / (name + "-plain")
    scratch.mkdir()
    n = 1500 if size != "tiny" else 400
    tokenizer = unigrams(scratch, n) if kind == "xlm-roberta" else word_pieces(scratch, n, kind)
    config.vocab_size, config.pad_token_id = len(tokenizer), tokenizer.pad_token_id
    stir(AutoModel.from_config(config), seed).save_pretrained(scratch)
    tokenizer.save_pretrained(scratch)
    limit = config.max_position_embeddings - (0 if kind == "bert" else 2)
    word = parts.Transformer(str(scratch), max_seq_length=min(limit, 128))
    pooling, *more = modules
    chain = [word, parts.Pooling(config.hidden_size, pooling_mode=pooling)]
    for m in more:
        if m == "normalize":
            chain.append(parts.Normalize())
        else:
            torch.manual_seed(seed)
            chain.append(parts.Dense(config.hidden_size, m, activation_function=torch.nn.Tanh()))
    model = SentenceTransformer(modules=chain, device="cpu")
    model.save(str(root / name))
    import shutil

    shutil.rmtree(scratch)
    result[f"{name}/text"] = np.asarray(model.encode(TEXTS, batch_size=4), np.float32)


def sentences(size, rng):
    from transformers import BertConfig, MPNetConfig, XLMRobertaConfig

    if size == "real":
        yield "mpnet", "mpnet", MPNetConfig(), ["mean", "normalize"]
        yield "xlmr-large", "xlm-roberta", XLMRobertaConfig(hidden_size=1024, num_hidden_layers=24, num_attention_heads=16, intermediate_size=4096, max_position_embeddings=514, type_vocab_size=1), ["mean"]
        return
    if size == "tiny":
        yield "sentence", "bert", BertConfig(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24, max_position_embeddings=40), ["mean", "normalize"]
        return
    for i, (kind, make) in enumerate({"bert": BertConfig, "mpnet": MPNetConfig, "xlm-roberta": XLMRobertaConfig}.items()):
        heads = rng.choice([2, 3, 4])
        width = heads * rng.choice([8, 12, 16])
        config = make(hidden_size=width, num_attention_heads=heads, num_hidden_layers=rng.randint(1, 4), intermediate_size=rng.randint(20, 200),
                      hidden_act=rng.choice(["gelu", "gelu_new", "relu"]), max_position_embeddings=rng.choice([60, 130, 514]))
        yield f"{kind}-{i}", kind, config, [rng.choice(["mean", "cls", "max", "mean_sqrt_len_tokens", "weightedmean", "lasttoken"]), *rng.choice([[], ["normalize"], [20], [20, "normalize"]])]


def altclip(root, size, seed, images, result):
    """AltCLIP: CLIP's pictures, an XLM-R's texts."""
    import torch
    from transformers import AltCLIPConfig, AltCLIPModel, CLIPImageProcessor

    folder = root / "altclip"
    folder.mkdir()
    tokenizer = unigrams(folder, 1500)
    text = dict(vocab_size=len(tokenizer), hidden_size=48, num_hidden_layers=3, num_attention_heads=4, intermediate_size=64, project_dim=24, max_position_embeddings=90, pad_token_id=tokenizer.pad_token_id)
    vision = dict(hidden_size=32, num_hidden_layers=3, num_attention_heads=4, intermediate_size=48, image_size=56, patch_size=14)
    if size == "real":
        text = dict(vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
        vision = dict(num_hidden_layers=24, num_attention_heads=16, hidden_size=1024, intermediate_size=4096, patch_size=14, image_size=224)
    config = AltCLIPConfig(text_config=text, vision_config=vision, projection_dim=768 if size == "real" else 20)
    model = stir(AltCLIPModel(config), seed)
    side = config.vision_config.image_size
    processor = CLIPImageProcessor(size={"shortest_edge": side}, crop_size={"height": side, "width": side})
    for part in (model, tokenizer, processor):
        part.save_pretrained(folder)
    limit = config.text_config.max_position_embeddings - 2
    with torch.inference_mode():
        one = lambda out: getattr(out, "pooler_output", out)[0].numpy()
        result["altclip/clip_image"] = np.stack([one(model.get_image_features(**processor(i, return_tensors="pt"))) for i in images])
        result["altclip/clip_text"] = np.stack([one(model.get_text_features(**tokenizer(t, truncation=True, max_length=limit, return_tensors="pt"))) for t in TEXTS])


WORDS = ["dog", "a red umbrella", "घर", "dog", "boat", "घर", "cat", "कुत्ता"]


def clipseg(root, size, seed, images, result, rng):
    """CLIPSeg: the masks of one word a picture, as 0 and 1 one after the other, and by id the widest margin of a pixel's probability to 0.5."""
    import torch
    from transformers import CLIPSegConfig, CLIPSegForImageSegmentation, CLIPSegProcessor, ViTImageProcessor

    folder = root / "clipseg"
    folder.mkdir()
    tokenizer = byte_pairs(folder, 1200)
    if size == "real":
        config = CLIPSegConfig(vision_config=dict(patch_size=16), reduce_dim=64, use_complex_transposed_convolution=True, decoder_intermediate_size=2048)
    else:
        heads, layers = rng.choice([2, 4]), rng.randint(3, 5)
        extract = sorted(rng.sample(range(layers), 2))
        config = CLIPSegConfig(text_config=dict(hidden_size=heads * 12, num_attention_heads=heads, num_hidden_layers=2, intermediate_size=50),
                               vision_config=dict(hidden_size=heads * 8, num_attention_heads=heads, num_hidden_layers=layers, intermediate_size=70, image_size=64, patch_size=rng.choice([8, 16])),
                               projection_dim=20, reduce_dim=rng.choice([8, 16]), decoder_num_attention_heads=rng.choice([2, 4]), decoder_intermediate_size=40, extract_layers=extract,
                               use_complex_transposed_convolution=rng.random() < 0.5, conditional_layer=rng.choice([0, 1]))
    config.text_config.vocab_size = len(tokenizer)
    config.text_config.bos_token_id, config.text_config.eos_token_id = tokenizer.bos_token_id, tokenizer.eos_token_id
    config.text_config.pad_token_id = tokenizer.pad_token_id
    model = stir(CLIPSegForImageSegmentation(config), seed)
    side = 352 if size == "real" else config.vision_config.image_size
    processor = CLIPSegProcessor(ViTImageProcessor(size={"height": side, "width": side}, do_rescale=True, image_mean=[0.485, 0.456, 0.406], image_std=[0.229, 0.224, 0.225], resample=3), tokenizer)
    for part in (model, processor):
        part.save_pretrained(folder)
    write(root / "objects.csv", [["id", "image", "object"], *[[f"p{i}", f"{i}.png", w] for i, w in enumerate(WORDS)]])
    with torch.inference_mode():
        for i, (img, word) in enumerate(zip(images, WORDS)):
            logits = model(**processor(text=[word], images=[img], return_tensors="pt")).logits
            logits = logits.reshape(1, 1, *logits.shape[-2:])
            large = torch.nn.functional.interpolate(logits, (img.height, img.width), mode="bilinear", align_corners=False)[0, 0]
            result[f"clipseg/mask.{i}"] = torch.sigmoid(large).numpy()


def make(root, size, seed):
    import torch

    rng = random.Random(seed)
    torch.manual_seed(seed)
    images, result = pictures(root, np.random.default_rng(seed), 80 if size == "tiny" else 400), {}
    write(root / "texts.csv", [["id", "caption"], *[[f"t{i}", t] for i, t in enumerate(TEXTS)]])
    for name, config in clips(size, rng):
        clip(root, config, size, seed, images, result, name)
        print(name, {k: v for k, v in config.to_diff_dict().items() if not isinstance(v, dict)})
    for name, kind, config, modules in sentences(size, rng):
        sentence(root, kind, config, modules, size, seed, result, name)
        print(name, modules)
    if size != "tiny":
        altclip(root, size, seed, images, result)
        clipseg(root, size, seed, images, result, rng)
        print("altclip, clipseg")
    (root / "reference").mkdir()
    save_file(result, root / "reference" / "model.safetensors")


def names(root):
    print("\n".join(key.replace("/", " ") for key in sorted({k.split(".")[0] for k in load_file(root / "reference" / "model.safetensors")})))


def same_mask(root, i, probability):
    """Equal wherever the probability is 1e-4 away from 0.5."""
    import pandas as pd
    from pycocotools import mask

    row = pd.read_parquet(root / "clipseg.mask.parquet").iloc[i]
    counts = (row["mask"] or {}).get("counts")
    ours = np.zeros(probability.shape, bool) if not counts else mask.decode({"size": [int(v) for v in row["mask"]["size"]], "counts": counts.encode()}).astype(bool)
    clear = np.abs(probability - 0.5) > 1e-4
    wrong = int((ours != (probability >= 0.5))[clear].sum()) if ours.shape == probability.shape else -1
    print(f"clipseg        {WORDS[i]:16} {ours.shape}  {ours.mean():.3f} masked, {wrong} pixels differ, {int((~clear).sum())} too near 0.5; {row['outcome']}")
    return wrong == 0


def compare(root):
    import pandas as pd

    reference, failed = load_file(root / "reference" / "model.safetensors"), False
    for key in reference:
        name, column = key.split("/")
        if name == "clipseg":
            failed |= not same_mask(root, int(column.split(".")[1]), reference[key])
            continue
        table = pd.read_parquet(root / f"{name}.{column}.parquet")
        ours, theirs = np.stack(table[column]), reference[key]
        if ours.shape != theirs.shape:
            print(f"{name} {column}: {ours.shape}, the library gives {theirs.shape}")
            failed = True
            continue
        worst = np.abs(ours - theirs).max(1) / np.abs(theirs).max()
        failed |= not worst.max() <= 1e-4
        spread = theirs.std(0).mean() / np.abs(theirs).max()
        print(f"{name:14} {column:10} {ours.shape}  worst difference, of the largest value: {worst.max():.1e} in row {worst.argmax()} (rows differ by {spread:.1e})")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    root = pathlib.Path(sys.argv[2])
    if sys.argv[1] == "make":
        make(root, sys.argv[3], int(sys.argv[4]))
    else:
        {"list": names, "compare": compare}[sys.argv[1]](root)

#!/usr/bin/env python3
"""Goldens for gomlxmodels/tokenizers: small tokenizers of each family, trained here, as transformers saves them (or as older
folders hold them), with the ids and the decoded texts that the tokenizers library gives for 2,000 lines in 29 scripts.

    python tools/pyref/tokens.py gomlxmodels/tokenizers/testdata [NAME…]
    python tools/pyref/tokens.py --folder MODEL OUT.zip     the same lines through another tokenizer
    python tools/pyref/tokens.py --speed MODEL              ids per second, one thread

Versions: transformers 5.23.0, tokenizers 0.23.3, sentencepiece 0.2.3 (its nmt_nfkc character map alone), Python 3.11+. Seed 20180819.
Training does not give the same vocabulary each time, so each golden holds its own tokenizer.
This file is not called tokenizers.py: the scripts beside it import that library.
"""

import base64
import io
import json
import os
import pathlib
import random
import shutil
import sys
import tempfile
import time
import unicodedata
import zipfile

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers
from transformers import AutoTokenizer, BertTokenizer, CLIPTokenizer, GPT2Tokenizer, MPNetTokenizer, RobertaTokenizer, Siglip2Tokenizer, XLMRobertaTokenizer

SEED = 20180819
LINES = 2000

SCRIPTS = """
a house by the sea with two red boats and an old fisherman mending nets
the child's umbrella isn't here; we've seen it, I'm sure they'll come, she'd say don't, it'S 25.5°C or $1,200 (about 50%)
une élève naïve à l'école où les garçons mangent des crêpes, cœur, façade, straße Größe Ångström smörgåsbord
Ảnh một con mèo ở chợ Việt Nam đẹp lắm nghệ thuật
İstanbul'da IŞIK ve ğ ılık çiçek şöyle
बाज़ार में रंग-बिरंगी साड़ियाँ और क्षत्रिय स्त्री का चित्र है कृपया ज्ञान
একটি বাজারে রঙিন শাড়ি পরা মেয়েরা ঐতিহ্য
தமிழ் சந்தையில் பெண்கள் பூக்கள் விற்கிறார்கள்
తెలుగు బజారులో రంగుల చీరలు స్త్రీ
ಕನ್ನಡ ಮಾರುಕಟ್ಟೆಯಲ್ಲಿ ಹೂವುಗಳು
മലയാളം ചന്തയിൽ പൂക്കൾ വിൽക്കുന്ന സ്ത്രീ
ગુજરાતી બજારમાં રંગબેરંગી સાડીઓ
ਪੰਜਾਬੀ ਬਾਜ਼ਾਰ ਵਿੱਚ ਰੰਗਦਾਰ ਕੱਪੜੇ
ଓଡ଼ିଆ ବଜାରରେ ରଙ୍ଗୀନ ଶାଢ଼ୀ
ᱥᱟᱱᱛᱟᱲᱤ ᱯᱟᱹᱨᱥᱤ ᱦᱟᱴ ᱨᱮ ᱑᱒᱓
ꯃꯩꯇꯩꯂꯣꯟ ꯀꯩꯊꯦꯜ ꯂꯣꯟ ꯱꯲꯳
صورة لقطة في السوق ٣٤ مُحَمَّدٌ ﷺ لا
بازار میں رنگین کپڑے بیچنے والی عورت کی تصویر
کٲشُر زَبان چھُ بٲزار ؤنِ
一张猫的照片，在市场里。龍馬と東京都 臺灣
ネコの写真 カタカナ ひらがな ﾊﾝｶｸ ガギグ
고양이 사진 시장에서 한국어
תמונה של חתול בשוק שָׁלוֹם
Фотография кошки на рынке Ёлка Їжак Їй
Φωτογραφία ΓΑΤΑΣ στην αγορά ὈΔΥΣΣΕΎΣ ἀρχή
รูปถ่ายของแมวที่ตลาด น้ำ
ຮູບແມວຢູ່ຕະຫຼາດ
ဈေးထဲက ကြောင်ဓာတ်ပုံ
រូបភាពឆ្មានៅផ្សារ
བོད་ཡིག ཁྲོམ་ཁང་
ፎቶ የድመት በገበያ
ფოტო კატის ბაზარში
Կատվի լուսանկար շուկայում
ශ්‍රී ලංකා වෙළඳපොළ පින්තූරය
""".strip().split("\n")

HOSTILE = [
    "", " ", "   ", "\n\t \r\n", "\u00a0\u3000x\u2028y\u0085z\u200bw", " leading", "trailing  ", "two  spaces   three", "a\tb\nc\r\nd", "\x0b\x0c\x1c\x1d\x1e\x1f|", "\u180e\u200e\u2060x",
    "\u0000\u0001\u007f\ufeff\ufffd", "e\u0301 \u0065\u0323\u0307 \u1e69 \ufb01 \u212b", "Z\u0334\u0321a\u0315lgo \u0300start", "👩\u200d👩\u200d👧 🇮🇳🏽 ❤\ufe0f 🧑🏿\u200d🚀 1\ufe0f\u20e3", "ǅ ẞ ß K Å Ω ﬀ ŉ İ I ı Σ ΑΣ ς",
    "'S 'T 'RE it'S 'sx ''s !'s x'll'd", "1234 ½ ² Ⅷ ٣ x1y2 ① ㊿ ㍿ ㎏", "\U0001d400\U00020000\U0010ffff\ue000\U0002b820\U0002b920", "a" * 99 + " " + "b" * 100 + " " + "c" * 101, "é" * 100 + " " + "ü" * 101,
    "東" * 300, "!?" * 90, "ab " * 200, "x" * 3000, "क" * 700, "<|startoftext|> <|endoftext|> <|ENDOFTEXT|> <|endoftext", "[CLS] [SEP] [MASK] [PAD] [UNK] [cls] [MASK", "<s> </s> <pad> <unk> <mask> <S> </S", "x<mask>y  <mask>  z",
    "a[SEP]b[MASK]c", "</w> a</w> ##ing ## a##b", "Ġa Ċ ▁ ▁a a▁b ▁▁", "\u1100\u1161\u11a8 \uac01 \u115f", "\u0600a \u0600\u0301", "\r\na\r\u0301b", "a\u20e3b\u0301c\u200dd\ufe0fe\u0323f\u0488", "ก\u0e33\u0e34 न\u093f\u0902", "☕️☕", "½⅓ ™ © ® № ℃ ﷼ ﹏ ＡＢＣ １２３ ﾞ ゙",
    "newtoken NewToken  newtoken  anewtoken newtokenb", "a<image>b <image> c<IMAGE>", "Über ÜBER über", "http://example.org/a?b=c&d=%20#e", "“quotes” ‘single’ «g» … — – ‐ ‑ − ～ 〜 ・ 、 。 । ॥ ؟ ، ؛ ՞ ። ፣ ᱾ ꯫",
]

# Characters about which the library and newer tables of Unicode disagree, and their neighbours.
ODD = (
    "0890-0891 08e2 110cd 13430 166d 111c9 061d 09fd 0a76 0c77 0c84 1b7d 2e43-2e45 2e52 10ead 1144b 11660 1e95e 1734 07fd 0898 08ca 09fe 0afa 0c3c 0d3b 0eba 180f 1885 1abf 1df6 a82c a8c5 a8ff a9bd 11438 1e000 1e944 "
    "1cf2 1cf3 1715 11930 11935 11938 1c89 a7cb a7cc a7ce a7d2 a7da a7dc 10d50 16ea0 11380 116d0 16ff4 11de0 2ebf0 32ff a7f2 1f16c 1fbf0 0130 03a3 1e9e 2160 24b6 3007 00aa 00b2 0488 0903 093e 302e"
)


def odd():
    out = []
    for part in ODD.split():
        a, _, b = part.partition("-")
        out += [chr(c) for c in range(int(a, 16), int(b or a, 16) + 1)]
    return out


def lines():
    """The lines as bytes: some are not UTF-8."""
    rng = random.Random(SEED)
    words = [w for s in SCRIPTS for w in s.split()]
    by_script = [s.split() for s in SCRIPTS]
    assigned = [chr(c) for c in range(1, 0x32000) if unicodedata.category(chr(c)) not in ("Cn", "Cs", "Co")]
    marks = [c for c in assigned if unicodedata.combining(c)]
    strange = odd()
    emoji = ["👩", "\u200d", "🏽", "❤", "\ufe0f", "🇮", "🇳", "😀", "🧑", "🚀", "⚽", "1\ufe0f\u20e3"]
    specials = ["<s>", "</s>", "<mask>", "[SEP]", "[CLS]", "[MASK]", "<|endoftext|>", "<|startoftext|>", "<pad>", "[UNK]"]
    texts = SCRIPTS + HOSTILE + [f"a{c}b {c} {c}{c} x\u0301{c}\u0323 {c}a\u0308" for c in strange]
    pick = lambda pool, n: [rng.choice(pool) for _ in range(rng.randint(1, n))]
    makers = [
        lambda: " ".join(pick(rng.choice(by_script), 14)),
        lambda: " ".join(pick(rng.choice(by_script), 14)),
        lambda: rng.choice(["", " ", "\u00a0", "-", "'", ", ", "  ", "\u200d", "、"]).join(pick(words, 9)),
        lambda: "".join(pick(rng.choice(by_script), 4))[: rng.randint(1, 30)],
        lambda: unicodedata.normalize(rng.choice(["NFC", "NFD", "NFKC", "NFKD"]), " ".join(pick(words, 9))),
        lambda: rng.choice([str.upper, str.title, str.lower])(" ".join(pick(rng.choice(by_script), 9))),
        lambda: "".join(pick(assigned, 14)),
        lambda: "".join(rng.choice(rng.choice([marks, marks, "aeοक", strange])) for _ in range(rng.randint(3, 9))),
        lambda: "".join(pick(emoji, 9)) + " ".join(pick(words, 3)),
        lambda: "".join(rng.choice(rng.choice([words, specials, [" ", "  ", "", "\n"], ".,!?'-#"])) for _ in range(rng.randint(3, 12))),
    ]
    while len(texts) < LINES - 150:
        texts.append(rng.choice(makers)())
    out = [t.encode() for t in texts]
    while len(out) < LINES:  # broken: cut in the middle of characters, bytes lost, turned or put in
        b = bytearray(" ".join(pick(words, 5)).encode())
        for _ in range(rng.randint(1, 4)):
            at = rng.randrange(len(b) + 1)
            rng.choice([lambda: b.__delitem__(slice(at, at + 1)), lambda: b.insert(at, rng.randrange(128, 256)), lambda: b.__setitem__(slice(at, None), b""), lambda: b.extend(bytes([0xF0, 0x9F, 0x98][: rng.randint(1, 3)]))])()
            if not b:
                b.extend(b"\xed\xa0\x80\xc0\xaf\xf5\xe2\x82")
        out.append(bytes(b))
    return out


def charsmap():
    """The nmt_nfkc character map: field 2 of field 3 of a SentencePiece model."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SCRIPTS), model_writer=model, vocab_size=2000, hard_vocab_limit=False, normalization_rule_name="nmt_nfkc", minloglevel=3)

    def fields(blob):
        at = 0

        def number():
            nonlocal at
            n = shift = 0
            while True:
                byte = blob[at]
                at += 1
                n |= (byte & 127) << shift
                shift += 7
                if byte < 128:
                    return n

        while at < len(blob):
            key = number()
            if key & 7 == 0:
                number()
            elif key & 7 == 2:
                size = number()
                yield key >> 3, blob[at : at + size]
                at += size
            else:
                at += {5: 4, 1: 8}[key & 7]

    return next(b for f, b in fields(next(b for f, b in fields(model.getvalue()) if f == 3)) if f == 2)


def byte_vocab(size, specials, suffix=None):
    t = Tokenizer(models.BPE(end_of_word_suffix=suffix) if suffix else models.BPE())
    t.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    kw = {"end_of_word_suffix": suffix} if suffix else {}
    t.train_from_iterator(SCRIPTS * 3, trainers.BpeTrainer(vocab_size=size, special_tokens=specials, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False, **kw))
    m = json.loads(t.to_str())["model"]
    return m["vocab"], [tuple(x) for x in m["merges"]]


def word_vocab(size, specials, lower):
    t = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    t.normalizer = normalizers.BertNormalizer(lowercase=lower)
    t.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    t.train_from_iterator([s for s in SCRIPTS for _ in range(3)], trainers.WordPieceTrainer(vocab_size=size, special_tokens=specials, show_progress=False))
    vocab = json.loads(t.to_str())["model"]["vocab"]
    return {w: i for i, w in enumerate(w for w in sorted(vocab, key=vocab.get) if w not in ("ꯟ", "ᱨ", "ө"))}


def config(folder, **kw):
    (folder / "tokenizer_config.json").write_text(json.dumps(kw, ensure_ascii=False))


def bert(f):
    BertTokenizer(vocab=word_vocab(900, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], True), model_max_length=24).save_pretrained(f)


def bert_vocab(f):
    vocab = word_vocab(900, ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"], False)
    (f / "vocab.txt").write_text("".join(w + "\n" for w in vocab))
    config(f, tokenizer_class="BertTokenizer", do_lower_case=False, tokenize_chinese_chars=False, strip_accents=False, clean_up_tokenization_spaces=True, model_max_length=30)


def mpnet(f):
    vocab = word_vocab(700, ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"], True)
    t = MPNetTokenizer(vocab=vocab, model_max_length=32, truncation_side="left", padding_side="left")
    t.add_tokens([AddedToken("newtoken", single_word=True), AddedToken("Über", normalized=True, rstrip=True)])
    t.save_pretrained(f)


def mpnet_vocab(f):
    """The special tokens are where the model's configuration says nothing of them."""
    (f / "vocab.txt").write_text("".join(w + "\n" for w in word_vocab(500, ["<s>", "<pad>", "</s>", "[UNK]", "<mask>"], True)))
    config(f, tokenizer_class="MPNetTokenizer", mask_token="<mask>", model_max_length=32)


def pieces(specials, normalizer):
    t = Tokenizer(models.Unigram())
    t.normalizer = normalizer
    t.pre_tokenizer = pre_tokenizers.Sequence([pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Metaspace()])
    t.train_from_iterator(SCRIPTS * 2, trainers.UnigramTrainer(vocab_size=900, special_tokens=specials, unk_token="<unk>", show_progress=False))
    vocab = json.loads(t.to_str())["model"]["vocab"]
    return [(w, s) for w, s in vocab if w not in ("猫", "ꯟ", "ф", "x")]


def xlmr(f):
    map_ = charsmap()
    vocab = pieces(["<s>", "<pad>", "</s>", "<unk>"], normalizers.Precompiled(map_)) + [("<mask>", 0.0)]
    t = XLMRobertaTokenizer(vocab=vocab, _spm_precompiled_charsmap=map_, model_max_length=40)
    t.save_pretrained(f)


def unigram_old(f):
    """As sentence encoders' older tokenizer.json: Metaspace by add_prefix_space, runs of spaces made one, NFKC in place of a map."""
    norm = normalizers.Sequence([normalizers.NFKC(), normalizers.Strip(), normalizers.Replace("``", '"')])
    vocab = pieces(["<s>", "<pad>", "</s>", "<unk>"], norm)
    t = Tokenizer(models.Unigram(vocab, unk_id=3, byte_fallback=False))
    t.normalizer = norm
    t.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    t.decoder = decoders.Metaspace(prepend_scheme="first")
    t.post_processor = processors.TemplateProcessing(single="$A </s>", pair="$A </s> $B </s>", special_tokens=[("</s>", 2)])
    t.add_special_tokens(["<s>", "<pad>", "</s>", "<unk>", AddedToken("<mask>", lstrip=True)])
    t.add_tokens([AddedToken("newtoken", rstrip=True, lstrip=True)])
    t.enable_truncation(20)
    t.save(str(f / "tokenizer.json"))


def roberta(f):
    vocab, merges = byte_vocab(700, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    RobertaTokenizer(vocab=vocab, merges=merges, add_prefix_space=True, model_max_length=33).save_pretrained(f)


def roberta_old(f):
    vocab, merges = byte_vocab(500, ["<s>", "<pad>", "</s>", "<unk>", "<mask>"])
    (f / "vocab.json").write_text(json.dumps(vocab))
    (f / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    config(f, tokenizer_class="RobertaTokenizer", model_max_length=33)


def opt(f):
    vocab, merges = byte_vocab(600, ["<s>", "<pad>", "</s>", "<unk>"])
    (f / "vocab.json").write_text(json.dumps(vocab))
    (f / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in merges))
    config(f, tokenizer_class="GPT2Tokenizer", add_bos_token=True, bos_token="</s>", eos_token="</s>", unk_token="</s>", pad_token="<pad>", clean_up_tokenization_spaces=True,
           added_tokens_decoder={str(len(vocab)): dict(content="<image>", special=True, lstrip=False, rstrip=True, normalized=False, single_word=False)})


def clip(f):
    """Without some tokens that end a word, which are unknown then."""
    vocab, merges = byte_vocab(900, [], "</w>")
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    names = dict.fromkeys(alphabet + [a + "</w>" for a in alphabet[:-4]])
    kept = []
    for a, b in merges:
        if a in names and b in names:
            names[a + b] = None
            kept.append((a, b))
    vocab = {w: i for i, w in enumerate([*names, "<|startoftext|>", "<|endoftext|>"])}
    CLIPTokenizer(vocab=vocab, merges=kept, model_max_length=77).save_pretrained(f)


def clip_old(f):
    """With a character as the padding token, and special tokens that are looked for in the normalised text: both exist."""
    with tempfile.TemporaryDirectory() as other:
        clip(pathlib.Path(other))
        model = json.loads((pathlib.Path(other) / "tokenizer.json").read_text())["model"]
    (f / "vocab.json").write_text(json.dumps(model["vocab"]))
    (f / "merges.txt").write_text("#version: 0.2\n" + "".join(f"{a} {b}\n" for a, b in model["merges"]))
    token = lambda name: dict(content=name, lstrip=False, rstrip=False, single_word=False, normalized=True, __type="AddedToken")
    config(f, tokenizer_class="CLIPTokenizer", bos_token=token("<|startoftext|>"), eos_token=token("<|endoftext|>"), unk_token="<|endoftext|>", pad_token="!", model_max_length=77)


def gemma(f):
    """SigLIP 2's: byte-pair encoding of characters, the bytes of those without a token, small letters."""
    t = Tokenizer(models.BPE())
    t.normalizer = normalizers.Sequence([normalizers.Lowercase(), normalizers.Replace(" ", "▁")])
    names = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>", *(f"<0x{b:02X}>" for b in range(256))]
    t.train_from_iterator(SCRIPTS * 3, trainers.BpeTrainer(vocab_size=900, special_tokens=names, limit_alphabet=120, show_progress=False))
    m = json.loads(t.to_str())["model"]
    t = Siglip2Tokenizer(vocab=m["vocab"], merges=[tuple(x) for x in m["merges"]], add_bos_token=False, add_eos_token=True, model_max_length=64, padding_side="right")
    t.save_pretrained(f)


def siglip(f):
    """SigLIP's: a SentencePiece model, read by the slow class."""
    import sentencepiece

    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(SCRIPTS * 3), model_writer=model, vocab_size=900, hard_vocab_limit=False, character_coverage=0.98, normalization_rule_name="nmt_nfkc", minloglevel=3, pad_id=0, eos_id=1, unk_id=2, bos_id=-1, required_chars="<>")
    (f / "spiece.model").write_bytes(model.getvalue())
    config(f, tokenizer_class="SiglipTokenizer", model_max_length=64)


def classes():
    """For each class of characters the ranges that the library takes for it."""

    def alone(pre):
        return lambda c: len(pre.pre_tokenize_str("a" + c + "b")) == 3

    def matched(expression):
        pre = pre_tokenizers.Split(Regex(expression), "removed")
        return lambda c: not pre.pre_tokenize_str(c)

    only = lambda **kw: normalizers.BertNormalizer(**{**dict(clean_text=False, handle_chinese_chars=False, strip_accents=False, lowercase=False), **kw}).normalize_str
    clean, chinese, accents, marks = only(clean_text=True), only(handle_chinese_chars=True), only(strip_accents=True), normalizers.StripAccents().normalize_str
    word = Tokenizer(models.WordLevel({"u": 0}, unk_token="u"))
    word.add_tokens([AddedToken("<T>", single_word=True, normalized=False)])
    small = normalizers.Lowercase().normalize_str
    tests = {
        "control": lambda c: clean("a" + c + "b") == "ab",
        "space": matched(r"\s"),
        "letter": matched(r"\p{L}"),
        "number": matched(r"\p{N}"),
        "digit": alone(pre_tokenizers.Digits(individual_digits=True)),
        "punct": alone(pre_tokenizers.BertPreTokenizer()),
        "chinese": lambda c: chinese(c) == f" {c} ",
        "accent": lambda c: accents("a" + c) == "a",
        "mark": lambda c: marks("a" + c) == "a",
        "word": lambda c: word.token_to_id("<T>") not in word.encode("<T>" + c).ids,
    }
    out = {name: [] for name in tests}
    lower = {}
    for c in range(0x110000):
        if 0xD800 <= c < 0xE000:
            continue
        for name, test in tests.items():
            if test(chr(c)):
                if out[name] and out[name][-1][1] == c - 1:
                    out[name][-1][1] = c
                else:
                    out[name].append([c, c])
        if small(chr(c)) != chr(c):
            lower[chr(c)] = small(chr(c))
    return {"classes": out, "lower": lower}


def load(folder):
    """transformers' tokenizer; the library's own where the folder names no class."""
    if not (folder / "tokenizer_config.json").exists():
        t = Tokenizer.from_file(str(folder / "tokenizer.json"))
        t.no_truncation()
        t.no_padding()
        return lambda text, n: t.encode(text).ids if n is None else cut(t, text, n), lambda ids, skip: t.decode(ids, skip_special_tokens=skip)
    t = AutoTokenizer.from_pretrained(folder)
    return (lambda text, n: t(text, truncation=n is not None, max_length=n).input_ids), lambda ids, skip: t.decode(ids, skip_special_tokens=skip)


def cut(t, text, n):
    t.enable_truncation(n)
    ids = t.encode(text).ids
    t.no_truncation()
    return ids


CUT = 9


def golden(folder, out):
    encode, decode = load(folder)
    ids, short, decoded = [], [], []
    for i, raw in enumerate(lines()):
        text = raw.decode("utf-8", errors="replace")
        ids.append(encode(text, None))
        short.append(encode(text, CUT))
        if i % 5 == 0 and not (folder / "spiece.model").exists():  # which is for a model that writes no text
            decoded.append({"line": i, "keep": decode(ids[-1], False), "skip": decode(ids[-1], True)})
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED, compresslevel=9) as z:
        def put(name, text):
            z.writestr(zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0)), text, zipfile.ZIP_DEFLATED, 9)

        for p in sorted(folder.iterdir()):
            if p.name in FILES and "--folder" not in sys.argv:
                put(p.name, p.read_bytes())
        put("ids.txt", "".join(" ".join(map(str, x)) + "\n" for x in ids))
        put("cut.txt", "".join(" ".join(map(str, x)) + "\n" for x in short))
        put("decoded.json", json.dumps(decoded, ensure_ascii=False))
    print(out.name, out.stat().st_size, sum(map(len, ids)), "ids")


FILES = {"tokenizer.json", "tokenizer_config.json", "special_tokens_map.json", "vocab.txt", "vocab.json", "merges.txt", "added_tokens.json", "spiece.model"}


def speed(folder):
    t = Tokenizer.from_file(str(folder / "tokenizer.json"))
    t.no_truncation()
    t.no_padding()
    texts = [b.decode("utf-8", errors="replace") for b in lines()]
    best = 1e9
    for _ in range(7):
        start = time.perf_counter()
        n = sum(len(t.encode(x).ids) for x in texts)
        best = min(best, time.perf_counter() - start)
    print(f"{n} ids, {n / best:.0f} ids/s, {len(texts) / best:.0f} lines/s")


def main(root, names):
    root.mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(root / "classes.zip", "w") as z:
        z.writestr(zipfile.ZipInfo("classes.json", (1980, 1, 1, 0, 0, 0)), json.dumps(classes()), zipfile.ZIP_DEFLATED, 9)
    with zipfile.ZipFile(root / "texts.zip", "w") as z:
        z.writestr(zipfile.ZipInfo("texts.json", (1980, 1, 1, 0, 0, 0)), json.dumps([base64.b64encode(b).decode() for b in lines()]), zipfile.ZIP_DEFLATED, 9)
    for make in (bert, bert_vocab, mpnet, mpnet_vocab, xlmr, unigram_old, roberta, roberta_old, opt, clip, clip_old, gemma, siglip):
        if names and make.__name__ not in names:
            continue
        folder = pathlib.Path(tempfile.mkdtemp())
        try:
            make(folder)
            golden(folder, root / (make.__name__.replace("_", "-") + ".zip"))
        finally:
            shutil.rmtree(folder)


if __name__ == "__main__":
    if sys.argv[1] == "--folder":
        golden(pathlib.Path(sys.argv[2]), pathlib.Path(sys.argv[3]))
    elif sys.argv[1] == "--speed":
        speed(pathlib.Path(sys.argv[2]))
    else:
        main(pathlib.Path(sys.argv[1]), sys.argv[2:])

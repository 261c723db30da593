#!/usr/bin/env python3
"""Goldens for plots/internal/typeset: what HarfBuzz makes of texts in the scripts that PNG figures are set in (glyph ids,
clusters, advances and offsets in font units), and in which order random texts of both writing directions lie.

    python tools/pyref/typeset.py FONTS LIBERATION plots/internal/typeset/testdata

FONTS is the folder that `antipode data pull fonts` fills, LIBERATION the regular TTF of Liberation Sans.
Versions: uharfbuzz 0.57.0, python-bidi 0.6.12, Python 3.11+. Seed 20090409 (of the random texts).
"""

import hashlib
import json
import pathlib
import random
import sys

import uharfbuzz as hb
from bidi import get_display

LIBERATION = "Liberation"

# family, script (ISO 15924), language, texts
SAMPLES = [
    (LIBERATION, "Latn", "", ["AVATAR Tokyo, fig.", "e\u0301o\u0302\u0323 naïve"]),
    (LIBERATION, "Grek", "", ["Ελληνικά"]),
    (LIBERATION, "Cyrl", "", ["Кириллица"]),
    (LIBERATION, "Hebr", "", ["שָׁלוֹם עולם"]),
    ("Devanagari", "Deva", "", ["हिन्दी क्षेत्र श्री", "किर्ति र्‍य द्वितीय", "मराठी ऱ्हास"]),
    ("Bengali", "Beng", "", ["বাংলা ক্ষুদ্র", "রবীন্দ্রনাথ কো ৎ"]),
    ("Gurmukhi", "Guru", "", ["ਪੰਜਾਬੀ ਸ੍ਰੀ", "ਕਿਸਾਨ ੴ"]),
    ("Gujarati", "Gujr", "", ["ગુજરાતી ક્ષ", "સ્ત્રી કિંમત"]),
    ("Oriya", "Orya", "", ["ଓଡ଼ିଆ କ୍ଷେତ୍ର", "ସ୍ତ୍ରୀ କୋଣ"]),
    ("Tamil", "Taml", "", ["தமிழ் ஸ்ரீ கொ", "கௌரவம் க்ஷ"]),
    ("Telugu", "Telu", "", ["తెలుగు క్షేత్రం", "స్త్రీ కై"]),
    ("Kannada", "Knda", "", ["ಕನ್ನಡ ಕ್ಷೇತ್ರ", "ಸ್ತ್ರೀ ಕೋ ರ್ಕ"]),
    ("Malayalam", "Mlym", "", ["മലയാളം ക്ഷേത്രം", "സ്ത്രീ കൊ ൻ"]),
    ("Ol Chiki", "Olck", "", ["ᱥᱟᱱᱛᱟᱲᱤ ᱚᱞ"]),
    ("Meetei Mayek", "Mtei", "", ["ꯃꯩꯇꯩꯂꯣꯟ ꯀꯥꯡ"]),
    ("Arabic", "Arab", "", ["العربية لا إله", "اردو ٹیکسٹ", "مُحَمَّد"]),
    ("Hebrew", "Hebr", "", ["שָׁלוֹם עולם"]),
    ("Thai", "Thai", "", ["ภาษาไทย น้ำที่", "ปู่ญี่"]),
    ("SC", "Hani", "zh-cn", ["简体中文直角骨"]),
    ("JP", "Hani", "ja", ["日本語直角骨"]),
    ("JP", "Hira", "ja", ["ひらがなが"]),
    ("JP", "Kana", "ja", ["カタカナパー"]),
    ("KR", "Hang", "ko", ["한국어 텍스트", "\u1112\u1161\u11ab\u1100\u1173\u11af"]),
]

RIGHT = {"Arab", "Hebr"}


def shape(data, script, language, text):
    font = hb.Font(hb.Face(data))
    buf = hb.Buffer()
    buf.add_codepoints([ord(c) for c in text])
    buf.script = script
    buf.direction = "rtl" if script in RIGHT else "ltr"
    if language:
        buf.language = language
    hb.shape(font, buf)
    return [[i.codepoint, i.cluster, p.x_advance, p.x_offset, p.y_offset] for i, p in zip(buf.glyph_infos, buf.glyph_positions)]


def main():
    fonts, liberation, out = map(pathlib.Path, sys.argv[1:])
    out.mkdir(parents=True, exist_ok=True)
    rows = []
    for family, script, language, texts in SAMPLES:
        path = liberation if family == LIBERATION else fonts / f"NotoSans{family.replace(' ', '')}-Regular.ttf"
        data = path.read_bytes()
        for text in texts:
            rows.append({"family": family, "sha256": hashlib.sha256(data).hexdigest(), "script": script, "language": language,
                         "text": text, "glyphs": shape(data, script, language, text)})
    (out / "harfbuzz.json").write_text("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in rows) + "\n]\n")

    rng = random.Random(20090409)
    alphabet = "ab" + "אב" + "صع" + "12" + "٣٤" + "%" + "+" + ",:" + "!" + "()" + "[]" + "  " + "\u05b8"
    lines = ["abc العربية 123 שלום xyz", "עברית (123) abc", "a שלום 12% b", "العربية 1+2 x", "٣٤ a שלום"]
    lines += ["".join(rng.choice(alphabet) for _ in range(rng.randrange(2, 16))).strip() for _ in range(400)]
    rows = [[text, get_display(text)] for text in lines if text]
    (out / "order.json").write_text("[\n" + ",\n".join(json.dumps(r, ensure_ascii=False, separators=(",", ":")) for r in rows) + "\n]\n")


if __name__ == "__main__":
    main()

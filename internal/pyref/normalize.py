#!/usr/bin/env python3
"""Goldens of the text normalization of DALL·E mini: lines of texts with what the original's TextNormalizer makes of them.

    python internal/pyref/normalize.py TEXT_PY gomlxmodels/dallemini/testdata

TEXT_PY is src/dalle_mini/model/text.py of dalle-mini (commit f0be4de). Its word frequencies are replaced by words.txt, which is written
too. characters.json has what ftfy and Unidecode make of each character from U+00A0 to U+2122 and of punctuation.

Versions: ftfy 6.3.1, Unidecode 1.4.0, emoji 2.16.0, Python 3.11+.
"""

import importlib.util
import json
import pathlib
import sys
import types

hub = types.ModuleType("huggingface_hub")
out = pathlib.Path(sys.argv[2])
hub.hf_hub_download = lambda *_, **__: str(out / "words.txt")
sys.modules["huggingface_hub"] = hub
WORDS = "the of and in to a is as was for art photo of house by sea photography nature sun set sunset love s t 2 20 2022 red".split()
(out / "words.txt").write_text("".join(f"{w} {1000 - i}\n" for i, w in enumerate(WORDS)))
spec = importlib.util.spec_from_file_location("text", sys.argv[1])
text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text)
normalize = text.TextNormalizer()

LINES = r"""A photo of a chef
  a  small house,by the   sea!!
the chef's hat isn't 'red' "at all"
I'll say: we've seen they're 'til
a "quoted ""word"" here"
prices of 1,234,567.89 dollars (about $5) & 20% off
version 2.5.1 of a.b.c on 12/05/2022 and 1/2
well-known semi-automatic - dash -- dashes
#sunset #photooflove #Nature2022 #a_b #xyzzy #the
visit http://example.org/a?b=c now https://x.y
<b>bold</b> and <i>italic</i> text < 5 > 3
&lt;p&gt; tags &amp;amp; entities &quot;q&quot; &#39;s
noooooo waaaay 11111 xxxx XVIII viiii
[12] a reference [3]
<person> and <person>, <person> at the beach
a/b\\c_d*e|f;g:h?i=j+k~l{m}n
,, leading, and trailing,,
.
...
Café con leche, señorita, Über-Straße, naïve façade
“curly quotes” and ‘single’ — dash – dash… ellipsis
El niño está aquí ¿dónde? ¡allí! ½ price 5° №
Łódź, Čeština, Ğ, Þór, œuvre, Ærø, Đorđe
$$$$ %%%% **** ---- ,,,,, "" "" ''''
`back` 'ticks' ''double''
ﬁne ﬂow ＡＢＣ
x'y'z's 'tis rock 'n' roll
10,000,000,000 people
http
#
# alone
##double #tag#tag
""".split("\n")
LINES += ["tabs\tand\nnewlines\r\nhere", "a  b\u00a0c\u2003d", "\x1b[31mred\x1b[0m \x07bell", "cafe\u0301"]

json.dump([[l, normalize(l)] for l in LINES], open(out / "normalized.json", "w"), indent=0, ensure_ascii=False)
chars = {}
for c in [*map(chr, range(0xA0, 0x250)), *map(chr, range(0x1E00, 0x1F00)), *map(chr, range(0x2000, 0x2070)), "€", "№", "™", "−", "ﬁ", "ﬂ", "，", "Ａ"]:
    chars[c] = text.unidecode(text.fix_html(text.ftfy.fix_text(c)))
json.dump(chars, open(out / "characters.json", "w"), indent=0, ensure_ascii=False)
for l in LINES:
    print(repr(l), repr(normalize(l)))

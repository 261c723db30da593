#!/usr/bin/env python3
"""Goldens of the text normalization of DALL·E mini: prompts with what the original's TextNormalizer makes of them.

    python tools/pyref/normalize.py TEXT_PY gomlxmodels/dallemini/testdata [RELEASED]

TEXT_PY is src/dalle_mini/model/text.py of dalle-mini (commit f0be4de). Its word frequencies are replaced by words.txt, which is written
too. The libraries are those of June 2022, when the models were published; their tables enter as checksums only.

normalized.json: [text, normalized] of the texts below, in 41 languages. digests.json: "characters" has, for each block of 256
characters (its number in hexadecimal), the beginning of the SHA-256 of what becomes of each character of it; blocks of which nothing
becomes are left out. "emoji": the same for the list of all emoji, sorted. "cococrola", "entigen": for all prompts of the released data
below RELEASED (cococrola/benchmark/v0-1, entigen), whose texts are not copied.

Versions: ftfy 6.1.1, Unidecode 1.3.4, emoji 1.7.0, Python 3.11+.
"""

import csv
import hashlib
import importlib.util
import json
import pathlib
import sys
import types
import warnings

warnings.simplefilter("ignore")
hub = types.ModuleType("huggingface_hub")
out = pathlib.Path(sys.argv[2])
hub.hf_hub_download = lambda *_, **__: str(out / "words.txt")
sys.modules["huggingface_hub"] = hub
WORDS = "the of and in to a is as was for art photo of house by sea photography nature sun set sunset love s t 2 20 2022 red".split()
(out / "words.txt").write_text("".join(f"{w} {1000 - i}\n" for i, w in enumerate(WORDS)))
spec = importlib.util.spec_from_file_location("text", sys.argv[1])
text = importlib.util.module_from_spec(spec)
spec.loader.exec_module(text)
text.person_token = [("a person", 1)]  # the original chooses among three at random
normalize = text.TextNormalizer()
assert text.ftfy.__version__ == "6.1.1" and text.emoji.__version__ == "1.7.0" and len(text.emoji.EMOJI_DATA) == 4702
assert text.unidecode("ー½") == " 1/2 ", "not Unidecode 1.3.4"

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
one<br>two<br/>three
&lt;p&gt; tags &amp;amp; entities &quot;q&quot; &#39;s
&amp;amp;amp;eacute; &Eacute;t&eacute; &#x4e2d; &ldquo;q&rdquo; &hearts; <b>&ldquo;q&rdquo;</b>
noooooo waaaay 11111 xxxx XVIII viiii
[12] a reference [3]
<person> and <person>, <person> at the beach
<PERSON> , and <person> near <Person>
<person>'s dog, <person> <person>
a/b\\c_d*e|f;g:h?i=j+k~l{m}n
,, leading, and trailing,,
.
...
Café con leche, señorita, Über-Straße, naïve façade
“curly quotes” and ‘single’ — dash – dash… ellipsis „low“ ‚low‘ «angle» ‹angle›
El niño está aquí ¿dónde? ¡allí! ½ price 5° №
Łódź, Čeština, Ğ, Þór, œuvre, Ærø, Đorđe
$$$$ %%%% **** ---- ,,,,, "" "" ''''
`back` 'ticks' ''double''
ﬁne ﬂow ＡＢＣ ŉ ĳ Ǆ ﬅ
x'y'z's 'tis rock 'n' roll
10,000,000,000 people
http
#
# alone
##double #tag#tag
#закат #海 #été

a 🙂 house
❤️❤❤️‍🔥 love ♥ © ® ™ ‼ ☀️☀
👩🏽‍🚀👩‍🚀👨‍👩‍👧‍👦 🏳️‍🌈 🇩🇪🇯🇵 🏴󠁧󠁢󠁷󠁬󠁳󠁿
1️⃣#️⃣*️⃣ 🅰️🆎 🈁 🏻 👍🏿👍
👨‍ 👩‍🦳x 🫨🩷 🙂🙂🙂🙂
#🔥sunset 🌅#sunset
Spaß» «Maß» „Fuß“ café… é» Ñ…
soft­hyphen zero​width join‍er‌non bom﻿
ＦＵＬＬ　ＷＩＤＴＨ！ ｶﾀｶﾅ ｶﾞ ﾊﾟﾝ ｱｰﾄ ￥ ￡ ﾡ
x² y₃ ⅷ Ⅻ ① ㊗️ ㎏ ℃ ½kg ∞ → ≠ √ ♪
𝓢𝓬𝓻𝓲𝓹𝓽 𝔽𝕣𝕒𝕜 🄰🅱
Việt ế ộ Ǻ ǟ Ȧ ḿ ṩ ẞ ŋ Ŋ ƒ Ɖ ɐ ə ʃ
शांति ॐ । ॥ १२३ ₹५०
""".split("\n")
LINES += ["tabs\tand\nnewlines\r\nhere", "a  b\u00a0c\u2003d", "\x1b[31mred\x1b[0m \x07bell", "cafe\u0301", "a\u2028b\u2029c\rd\x0be\x0cf", "\x85\x93quoted\x94 \x81", "a\x7fb\u206a\ufff9"]

# one concept per column
CONCEPTS = """
en: house, dog, water, tree, book, bread, moon, mother, a photo of a red flower, an old man by the river
es: casa, perro, agua, árbol, libro, pan, luna, madre, una fotografía de una flor roja, un niño pequeño junto al río
de: Haus, Hund, Wasser, Baum, Buch, Brot, Mond, Mutter, ein Foto von einer schönen Blüte, großer Fluß im Frühling
id: rumah, anjing, air, pohon, buku, roti, bulan, ibu, foto bunga merah, seorang lelaki tua di tepi sungai
fr: maison, chien, eau, arbre, livre, pain, lune, mère, une photo d’une fleur rouge, l’œuf près de la forêt
pl: dom, pies, woda, drzewo, książka, chleb, księżyc, matka, zdjęcie czerwonego kwiatu, żółw na łące
tr: ev, köpek, su, ağaç, kitap, ekmek, ay, anne, kırmızı çiçek fotoğrafı, İstanbul'da ışıklı şehir
vi: ngôi nhà, con chó, nước, cây, sách, bánh mì, mặt trăng, mẹ, ảnh chụp một bông hoa đỏ, ông già bên bờ sông
ru: дом, собака, вода, дерево, книга, хлеб, луна, мать, фотография красного цветка, объявление: щенок съел ёжика
uk: дім, собака, вода, дерево, книга, хліб, місяць, мати, фото червоної квітки, їжак і ґава біля річки
el: σπίτι, σκύλος, νερό, δέντρο, βιβλίο, ψωμί, φεγγάρι, μητέρα, φωτογραφία ενός κόκκινου λουλουδιού, άνθρωπος στην αυλή
zh: 房子, 狗, 水, 树, 书, 面包, 月亮, 母亲, 一张红色花朵的照片, 河边的老人
zh-Hant: 房屋, 犬, 河流, 樹, 書, 麵包, 龍, 媽媽, 一張紅花的圖片, 臺灣的廟宇
ja: 家, 犬, 水, 木, 本, パン, 月, 母, 赤い花の写真, コーヒーとケーキ、テーブルの上
ko: 집, 개, 물, 나무, 책, 빵, 달, 어머니, 빨간 꽃 사진, 강가의 할아버지
he: בית, כלב, מים, עץ, ספר, לחם, ירח, אמא, צילום של פרח אדום, אָחוֹת גְּדוֹלָה
ar: بيت, كلب, ماء, شجرة, كتاب, خبز, قمر, أم, صورة زهرة حمراء, رجلٌ عجوزٌ بجانبِ النَّهر؟
fa: خانه, سگ, آب, درخت, کتاب, نان, ماه, مادر, عکس یک گل سرخ, می‌خواهم کنار رود
ur: گھر, کتا, پانی, درخت, کتاب, روٹی, چاند, ماں, سرخ پھول کی تصویر, دریا کے کنارے بوڑھا آدمی
sd: گهر, ڪتو, پاڻي, وڻ, ڪتاب, ماني, چنڊ, ماءُ, ڳاڙهي گل جي تصوير, نديءَ ڪناري
ks: گَرٕ, ہوٗن, آب, کُل, کِتاب, ژۄٹ, زوٗن, مٲج, وۄزُل پوش, کٔشیٖر
hi: घर, कुत्ता, पानी, पेड़, किताब, रोटी, चाँद, माँ, लाल फूल की तस्वीर, नदी के किनारे बूढ़ा आदमी
mr: घर, कुत्रा, पाणी, झाड, पुस्तक, भाकरी, चंद्र, आई, लाल फुलाचे छायाचित्र, नदीकाठी म्हातारा
ne: घर, कुकुर, पानी, रूख, किताब, रोटी, चन्द्रमा, आमा, रातो फूलको तस्बिर, खोलाको छेउमा
sa: गृहम्, कुक्कुरः, जलम्, वृक्षः, पुस्तकम्, अन्नम्, चन्द्रः, माता, रक्तपुष्पस्य चित्रम्, नद्याः तीरे वृद्धः
bn: বাড়ি, কুকুর, জল, গাছ, বই, রুটি, চাঁদ, মা, লাল ফুলের ছবি, নদীর ধারে বৃদ্ধ মানুষ
as: ঘৰ, কুকুৰ, পানী, গছ, কিতাপ, ৰুটী, জোন, মা, ৰঙা ফুলৰ ছবি, নদীৰ পাৰত
pa: ਘਰ, ਕੁੱਤਾ, ਪਾਣੀ, ਰੁੱਖ, ਕਿਤਾਬ, ਰੋਟੀ, ਚੰਨ, ਮਾਂ, ਲਾਲ ਫੁੱਲ ਦੀ ਤਸਵੀਰ, ਦਰਿਆ ਦੇ ਕੰਢੇ
gu: ઘર, કૂતરો, પાણી, ઝાડ, પુસ્તક, રોટલી, ચંદ્ર, મા, લાલ ફૂલનો ફોટો, નદી કિનારે
or: ଘର, କୁକୁର, ପାଣି, ଗଛ, ବହି, ରୁଟି, ଚନ୍ଦ୍ର, ମାଆ, ଲାଲ ଫୁଲର ଛବି, ନଦୀ କୂଳରେ
ta: வீடு, நாய், தண்ணீர், மரம், புத்தகம், ரொட்டி, நிலா, அம்மா, சிவப்பு மலரின் புகைப்படம், ஆற்றின் கரையில்
te: ఇల్లు, కుక్క, నీరు, చెట్టు, పుస్తకం, రొట్టె, చంద్రుడు, అమ్మ, ఎర్ర పువ్వు ఫోటో, నది ఒడ్డున
kn: ಮನೆ, ನಾಯಿ, ನೀರು, ಮರ, ಪುಸ್ತಕ, ರೊಟ್ಟಿ, ಚಂದ್ರ, ಅಮ್ಮ, ಕೆಂಪು ಹೂವಿನ ಚಿತ್ರ, ನದಿಯ ದಡದಲ್ಲಿ
ml: വീട്, നായ, വെള്ളം, മരം, പുസ്തകം, റൊട്ടി, ചന്ദ്രൻ, അമ്മ, ചുവന്ന പൂവിന്റെ ഫോട്ടോ, നദിക്കരയിൽ
si: ගෙදර, බල්ලා, වතුර, ගස, පොත, පාන්, හඳ, අම්මා, රතු මලක ඡායාරූපය, ගඟ අසල
sat: ᱚᱲᱟᱜ, ᱥᱮᱛᱟ, ᱫᱟᱜ, ᱫᱟᱨᱮ, ᱯᱚᱛᱚᱵ, a photo of ᱥᱮᱛᱟ by the river, ᱪᱟᱸᱫᱚ, ᱟᱭᱳ, ᱟᱨᱟᱜ ᱵᱟᱦᱟ, ᱜᱟᱰᱟ
mni: ꯌꯨꯝ, ꯍꯨꯏ, ꯏꯁꯤꯡ, ꯎ, ꯂꯥꯏꯔꯤꯛ, ꯇꯜ, ꯊꯥ, ꯏꯃꯥ, ꯑꯉꯥꯡꯕ ꯂꯩ, ꯇꯨꯔꯦꯜ
th: บ้าน, หมา, น้ำ, ต้นไม้, หนังสือ, ขนมปัง, พระจันทร์, แม่, ภาพถ่ายดอกไม้สีแดง, ชายชราริมแม่น้ำ
am: ቤት, ውሻ, ውሃ, ዛፍ, መጽሐፍ, ዳቦ, ጨረቃ, እናት, የቀይ አበባ ፎቶ, በወንዝ ዳር
ka: სახლი, ძაღლი, წყალი, ხე, წიგნი, პური, მთვარე, დედა, წითელი ყვავილის ფოტო, მდინარის პირას
hy: տուն, շուն, ջուր, ծառ, գիրք, հաց, լուսին, մայր, կարմիր ծաղկի լուսանկար, գետի ափին
my: အိမ်, ခွေး, ရေ, သစ်ပင်, စာအုပ်, ပေါင်မုန့်, လ, အမေ, ပန်းနီဓာတ်ပုံ, မြစ်ကမ်း
""".strip().split("\n")
LINES += [c for line in CONCEPTS for c in line.split(": ", 1)[1].split(", ")]


def digest(lines):
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:16]


def characters():
    for block in range(0x1100):
        if 0xD8 <= block < 0xE0:
            continue
        made = []
        for code in range(block * 256, block * 256 + 256):
            c = chr(code)
            made.append(text.unidecode(text.emoji.demojize(text.fix_html(text.ftfy.fix_text(c)))))
        if any(made):
            yield f"{block:02x}", digest(made)


json.dump([[l, normalize(l)] for l in LINES], open(out / "normalized.json", "w"), indent=0, ensure_ascii=False)
digests = json.load(open(out / "digests.json")) if (out / "digests.json").exists() else {}
digests["characters"] = dict(characters())
digests["emoji"] = digest(c + " " + normalize(c + " x") for c in sorted(text.emoji.EMOJI_DATA))
if len(sys.argv) > 3:
    released = pathlib.Path(sys.argv[3])
    folder = released / "cococrola" / "benchmark" / "v0-1"
    templates = json.load(open(folder / "prompts.json"))
    concepts = csv.DictReader(open(folder / "concepts.csv", encoding="utf-8", newline=""))
    digests["cococrola"] = digest(normalize(templates[l].replace("$$$", row[l])) for row in concepts for l in sorted(templates))
    digests["entigen"] = digest(normalize(row["Sentence"]) for row in csv.DictReader(open(released / "entigen" / "prompt.csv", encoding="utf-8", newline="")))
json.dump(digests, open(out / "digests.json", "w"), indent=0)
for l in LINES:
    print(repr(l), repr(normalize(l)))

"""Scores of a small set by numpy 2.4.6 and scipy 1.17.1, for golden_test.go.

Command: python golden.py > golden.json        Seed: 20230613
Two models, four languages, five concepts; vectors are base64 little-endian float32. In "he" every concept has one picture, so that the sample of Dt with m = 0
is all of the others. NaN is written as null.
"""
import base64, json, sys
import numpy as np
from scipy.spatial.distance import cdist
from scipy.stats import pearsonr

rng = np.random.default_rng(20230613)
models, languages, concepts = ["M1", "M2"], ["en", "es", "ja", "he"], ["bird", "dog", "moon", "sea", "ship"]
pictures = {"en": 5, "es": 4, "ja": 3, "he": 1}
centre = {c: rng.normal(size=9) for c in concepts}
word = {c: rng.normal(size=6).astype("f4") for c in concepts}


def b64(a):
    return base64.b64encode(np.ascontiguousarray(a, "<f4").tobytes()).decode()


def number(x):
    return None if np.isnan(x) else float(x)


def cosines(a, b):
    return 1 - cdist(a.astype("f8"), b.astype("f8"), "cosine")


images, joint = {}, {}
for m in models:
    for l in languages:
        for c in concepts:
            n = pictures[l]
            images[m, l, c] = (centre[c] + rng.uniform(0.3, 2) * rng.normal(size=(n, 9))).astype("f4")
            joint[m, l, c] = (0.4 * word[c] + rng.normal(size=(n, 6))).astype("f4")

cells = []
for (m, l, c), x in images.items():
    n, own = len(x), cosines(x, x)
    source = images[m, "en", c]
    sc = (own.sum() - n) / (n * n - n) if n > 1 else np.nan
    xc = cosines(x, source).mean()
    dt = np.nan
    if l == "he":
        dt = np.mean([cosines(x, images[m, l, o]).mean() for o in concepts if o != c])
    everything = np.concatenate([images[m, l, o] for o in concepts if o != c])
    cells.append(dict(model=m, language=l, concept=c, vectors=b64(x), joint=b64(joint[m, l, c]), n=n, sc=number(sc), xc_literal=number(xc),
                      xc=number(sc if l == "en" else xc), wc=number(100 * cosines(joint[m, l, c], word[c][None]).mean()),
                      wc_dot=number((joint[m, l, c].astype("f8") @ word[c].astype("f8")).mean()), dt=number(dt),
                      dt_all=number(cosines(x, everything).mean())))

at = {(c["model"], c["language"], c["concept"]): c for c in cells}
mean = lambda m, l, s: np.mean([at[m, l, c][s] for c in concepts])
means = [dict(model=m, language=l, xc=mean(m, l, "xc"), wc=mean(m, l, "wc")) for m in models for l in languages]
means += [dict(model=m, language="Avg", **{s: np.mean([mean(m, l, s) for l in languages]) for s in ("xc", "wc")}) for m in models]
means += [dict(model="Avg", language=l, **{s: np.mean([mean(m, l, s) for m in models]) for s in ("xc", "wc")}) for l in languages]
values = lambda l: [at[m, l, c]["xc"] for m in models for c in concepts]
correlations = [dict(a=a, b=b, r=float(pearsonr(values(a), values(b)).statistic))
                for i, a in enumerate(languages) for b in languages[i + 1:]]
json.dump(dict(width=9, words={c: b64(word[c]) for c in concepts}, cells=cells, means=means, correlations=correlations), sys.stdout, indent=1)
print()

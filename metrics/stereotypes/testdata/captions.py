"""Salience of made-up captions by scikit-learn 1.x (CountVectorizer, TfidfTransformer) and similarities of made-up vectors by its cosine_similarity,
for golden_test.go.

Command: python captions.py > captions.json        Seed: 20240116
"""
import json
import sys

import numpy as np
import sklearn
from sklearn.feature_extraction.text import CountVectorizer, TfidfTransformer
from sklearn.metrics.pairwise import cosine_similarity

rng = np.random.default_rng(20240116)
attributes = ["hat", "wide hat", "tall", "blue", "blue blue", "drum", "old man", "old", "sea", "café", "टोपी", "never"]
fill = ["a", "man", "with", "wide", "the", "hats", "Café", "TALL", "blue", "hat", "old", "sea,", "drum.", "टोपी", "(tall)", "blue-blue"]
identities = ["Veltan", "Norra", "Sul"]
captions, picture_of, who = [], [], []
for k, identity in enumerate(identities):
    p = rng.dirichlet(np.ones(len(fill)))
    for picture in range(6 + k):
        for _ in range(4):
            captions.append(" ".join(rng.choice(fill, size=rng.integers(0, 12), p=p)))
            picture_of.append(f"p{picture}")
            who.append(identity)

counter = CountVectorizer(vocabulary=attributes, ngram_range=(1, 2), token_pattern=r"[\wऀ-ॿ]+")
counts = counter.fit_transform(captions).toarray()
transformer = TfidfTransformer(norm=None, use_idf=True, smooth_idf=True).fit(counts)
n, df = len(captions), (counts > 0).sum(0)
rows = []
for identity in identities:
    mine = np.array([w == identity for w in who])
    c = counts[mine].sum(0)
    tf = (c + 1) / (c.sum() + len(attributes))
    for a, attribute in enumerate(attributes):
        if c[a]:
            rows.append({"identity": identity, "attribute": attribute, "times": int(c[a]), "captions": int((counts[mine] > 0).sum(0)[a]), "documents": int(df[a]),
                         "tf": tf[a], "plain": tf[a] * np.log(n / (1 + df[a])), "smooth": tf[a] * transformer.idf_[a],
                         "share": float((counts[mine][:, a] > 0).mean())})

pictures, pulls = [], []
for identity in identities:
    parts = {("d", ""): 4, ("s", "tall"): 3, ("s", "hat"): 5, ("ns", "sea"): 2, ("ns", "old"): 4, ("ns", "drum"): 1}
    v = {key: (rng.normal(size=(m, 7)) + 1.2).astype("f4") for key, m in parts.items()}
    for (which, attribute), x in v.items():
        pictures += [{"identity": identity, "set": which, "attribute": attribute, "vector": [float(f) for f in row]} for row in x]
    of = lambda which: [x.astype("f8") for key, x in v.items() if key[0] == which]
    each = lambda x, y: float(np.mean([cosine_similarity(a, b).mean() for a in x for b in y]))
    pooled = lambda x, y: float(cosine_similarity(np.concatenate(x), np.concatenate(y)).mean())
    d, s, ns = of("d"), of("s"), of("ns")
    own = cosine_similarity(d[0])
    pulls.append({"identity": identity, "attribute": [each(d, s), each(d, ns), each(s, ns)], "pooled": [pooled(d, s), pooled(d, ns), pooled(s, ns)],
                  "own": float(own[~np.eye(len(own), dtype=bool)].mean())})

json.dump({"made_with": f"scikit-learn {sklearn.__version__}, numpy {np.__version__}", "attributes": attributes,
           "captions": [list(x) for x in zip(who, picture_of, captions)], "rows": rows, "images": pictures, "pulls": pulls}, sys.stdout, ensure_ascii=False, indent=0)
print()

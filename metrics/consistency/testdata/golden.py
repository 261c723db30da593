"""Scores of small made-up pictures by numpy and scipy, every pair of pictures compared on its own, for golden_test.go.

Command: python golden.py > golden.json        Seed: 20261121        Versions: numpy 2.4.6, scipy 1.17.1
Vectors are base64 little-endian float32, [language][prompt][index][width]; a missing picture is NaN.
"""
import base64, itertools, json, math, sys
import numpy as np
from scipy.spatial.distance import cdist, pdist

rng = np.random.default_rng(20261121)


def b64(a):
    return base64.b64encode(np.ascontiguousarray(a, "<f4").tobytes()).decode()


def phi(a, b):
    return 1 - cdist(a[None].astype(float), b[None].astype(float), "cosine")[0, 0]


def there(v):
    return not np.isnan(v[0])


def mean(values):
    values = list(values)
    return float(np.mean(values)) if values else None


def correctness(x, ref):
    per_prompt = [[mean(phi(ref[k], v) for v in x[l, k] if there(v)) for k in range(x.shape[1])] for l in range(x.shape[0])]
    return [mean(v for v in prompts if v is not None) for prompts in per_prompt]


def scal(x, a, b, reading):
    per_prompt = []
    for k in range(x.shape[1]):
        us = [u for u in range(x.shape[2]) if there(x[a, k, u])]
        vs = [v for v in range(x.shape[2]) if there(x[b, k, v])]
        least = 1 if reading == "mean_all" and a != b else 2
        if len(us) < least or len(vs) < least:
            continue
        keep = {"mean_uneq": lambda u, v: u != v, "literal": lambda u, v: u != v, "mean_ult": lambda u, v: u < v, "mean_all": lambda u, v: True}[reading]
        if a == b:
            keep = lambda u, v: u != v
        pairs = [phi(x[a, k, u], x[b, k, v]) for u in us for v in vs if keep(u, v)]
        if pairs:
            per_prompt.append(np.sum(pairs) / (len(pairs) / 2 if reading == "literal" else len(pairs)))
    return mean(per_prompt)


def dwl(x, l, images):
    x = x[l]
    if images == "same_seed":  # an index weighs by the prompts that have it
        layers = [np.array([v[r] for v in x if there(v[r])]) for r in range(x.shape[1])]
        layers = [v for v in layers if len(v) > 1]
        return 1 - float(np.average([np.mean(1 - pdist(v.astype(float), "cosine")) for v in layers], weights=[len(v) for v in layers]))
    sims = []
    for a, b in itertools.combinations(x, 2):
        a, b = [[v for v in p if there(v)] for p in (a, b)]
        if images == "first":
            a, b = a[:1], b[:1]
        if not a or not b:
            continue
        if images == "centroid":
            a, b = [[np.mean([v / np.linalg.norm(v.astype(float)) for v in p], axis=0)] for p in (a, b)]
        sims.append(np.mean([phi(u, v) for u in a for v in b]))
    return 1 - mean(sims)


def case(name, shape, shift, missing):
    x = (rng.normal(size=shape) + shift * rng.normal(size=(1, shape[1], 1, shape[3]))).astype(np.float32)
    ref = rng.normal(size=(shape[1], shape[3])).astype(np.float32)
    for l, k, r in missing:
        x[l, k, r] = np.nan
    pair_readings = ["mean_uneq", "mean_ult", "mean_all", "literal"]
    n = shape[0]
    pairs = {m: [[scal(x, a, b, m) for b in range(n)] for a in range(n)] for m in pair_readings}
    off = [pairs["mean_uneq"][a][b] for a in range(n) for b in range(n) if a != b]
    return dict(name=name, shape=shape, vectors=b64(x), references=b64(ref), correctness=correctness(x, ref), scal=pairs,
                overall=dict(mean_pairs=mean(off), half=mean(off) / 2, literal=sum(off) / n),
                dwl={i: [dwl(x, l, i) for l in range(n)] for i in ["all", "same_seed", "centroid", "first"]})


cases = [
    case("complete", (4, 6, 4, 8), 1.0, []),
    case("two pictures", (3, 5, 2, 5), 0.3, []),
    case("pictures missing", (4, 7, 4, 6), 0.7, [(0, 1, 2), (0, 1, 3), (1, 1, 1), (2, 4, 1), (2, 4, 2), (2, 4, 3), (3, 0, 1), (3, 0, 2), (3, 0, 3)]),
]
json.dump(cases, sys.stdout, indent=1)
print()

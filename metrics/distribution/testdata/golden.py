"""Scores of small sets for golden_test.go, by torch-fidelity 0.4.0, vendi-score 0.0.3, scikit-bio 0.7.4, scipy 1.17.1.

Command: python golden.py > golden.json        Seed: 20261126
torch-fidelity's functions on statistics and kernels are numpy; torch, which their modules import, is replaced by a stub.
The Inception score, cmmd-pytorch's distance, the image retrieval score and the estimators of iNEXT (Chao and Jost) are
their published formulas: in float64, with exact binomial coefficients and Stirling numbers.
"""
import base64, importlib.util, json, math, pathlib, sys
from fractions import Fraction
from unittest import mock
import numpy as np
from scipy.special import digamma, log_softmax
import skbio.diversity.alpha as alpha
from vendi_score import vendi

for name in ("torch", "torch_fidelity", "torch_fidelity.helpers", "torch_fidelity.utils"):
    sys.modules[name] = mock.MagicMock(get_kwarg=lambda key, kwargs: kwargs[key])
site = next(p for p in map(pathlib.Path, sys.path) if (p / "torch_fidelity").is_dir())


def module(name):
    spec = importlib.util.spec_from_file_location(name, site / "torch_fidelity" / f"{name}.py")
    m = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(m)
    return m


fid, kid = module("metric_fid"), module("metric_kid")
rng = np.random.default_rng(20261126)


def b64(a):
    return base64.b64encode(np.ascontiguousarray(a, "<f4").tobytes()).decode()


def statistics(x):
    return dict(mu=np.mean(x, axis=0), sigma=np.cov(x, rowvar=False))


def isc(x, splits):
    log_p = log_softmax(x, axis=1)
    p, scores, n = np.exp(log_p), [], len(x)
    for i in range(splits):
        a, b = p[i * n // splits:(i + 1) * n // splits], log_p[i * n // splits:(i + 1) * n // splits]
        scores.append(np.exp((a * (b - np.log(a.mean(0, keepdims=True)))).sum(1).mean()))
    return float(np.mean(scores))


def cmmd(x, y):
    x, y = (v / np.linalg.norm(v, axis=1, keepdims=True) for v in (x, y))
    k = lambda a, b: np.exp(-((a[:, None] - b[None]) ** 2).sum(-1) / 200).mean()
    return float(1000 * (k(x, x) + k(y, y) - 2 * k(x, y)))


def case(name, x, y):
    x, y = x.astype(np.float32), y.astype(np.float32)
    a, b, m = x.astype(float), y.astype(float), min(len(x), len(y))
    out = dict(name=name, width=x.shape[1], real=b64(x), generated=b64(y), same=m,
               frechet=fid.fid_statistics_to_metric(statistics(a), statistics(b), False)["frechet_inception_distance"],
               kid=float(kid.kernel_mmd(a[:m], b[:m], kid_kernel="poly", kid_kernel_poly_degree=3,
                                        kid_kernel_poly_gamma=None, kid_kernel_poly_coef0=1)), cmmd=cmmd(a, b),
               isc=isc(b, 1), isc_splits=isc(b, 4))
    k = (lambda u: u @ u.T / len(u))(b / np.linalg.norm(b, axis=1, keepdims=True))
    full = np.linalg.matrix_rank(k) == min(b.shape)
    dual = {str(q): float(vendi.score_dual(b, q=q)) for q in (0, 1, 2, "inf") if q != 0 or full and len(b) > b.shape[1]}
    return dict(out, vendi=dual)


def stirling(n, k):
    return sum((-1) ** (k - j) * math.comb(k, j) * j ** n for j in range(k + 1)) // math.factorial(k)


def retrieval(k, n, total, level):
    p = lambda j, s: Fraction(stirling(n, j) * math.factorial(s), math.factorial(s - j) * s ** n)
    sizes, tail = range(k, total + 1), (1 - level) / 2
    best = max(sizes, key=lambda s: p(k, s))
    inside = [s for s in sizes if sum(p(j, s) for j in range(1, k + 1)) >= tail
              and sum(p(j, s) for j in range(k, min(n, s) + 1)) >= tail]
    return dict(k=k, n=n, total=total, level=level, value=best / total, low=min(inside) / total, high=max(inside) / total)


def hill(x, sizes):
    """The estimators of Chao and Jost 2015 as in iNEXT: by order, of the sample, of m images, for infinitely many."""
    x = np.array(x)
    n, f1, f2 = int(x.sum()), int((x == 1).sum()), int((x == 2).sum())
    f0 = (n - 1) / n * f1 * (f1 - 1) / 2 if f2 == 0 else (n - 1) / n * f1 ** 2 / 2 / f2
    a = n * f0 / (n * f0 + f1) if f0 > 0 else 0.0
    h = float((x / n * (digamma(n) - digamma(x))).sum())
    if 0 < a < 1:
        h += f1 / n * sum(a ** (r - n + 1) / r for r in range(n, n + 20000))
    pairs = float((x * (x - 1)).sum()) / (n * (n - 1))
    infinity = {"0": len(x) + f0, "1": math.exp(h), "2": 1 / pairs if pairs else None}

    def expected(m):
        return [sum(Fraction(math.comb(int(v), k) * math.comb(n - int(v), m - k), math.comb(n, m)) for v in x)
                for k in range(1, m + 1)]

    at = []
    for m in sizes:
        if m <= n:
            f = [float(v) for v in expected(m)]
            q0, q1 = sum(f), math.exp(-sum(k / m * math.log(k / m) * v for k, v in enumerate(f, 1)))
            coverage = 1 - sum(float(Fraction(int(v), n) * Fraction(math.comb(n - int(v), m), math.comb(n - 1, m)))
                               for v in x) if m < n else 1 - f1 / n * a
        else:
            now = math.exp(-sum(v / n * math.log(v / n) for v in x))
            q0, q1 = len(x) + f0 * (1 - a ** (m - n)), now + (infinity["1"] - now) * (1 - a ** (m - n))
            coverage = 1 - f1 / n * a ** (m - n + 1)
        at.append(dict(m=m, hill={"0": q0, "1": q1, "2": 1 / (1 / m + (1 - 1 / m) * pairs)}, coverage=coverage))
    return dict(counts=[int(v) for v in x], at=at, infinity=infinity,
                observed={str(q): float(alpha.hill(x, order=q)) for q in (0, 1, 2)},
                chao1=float(alpha.chao1(x, bias_corrected=f2 == 0)))


flat = rng.normal(size=(40, 6))
flat[:, 2], flat[:, 4] = 1, flat[:, 0]
json.dump(dict(
    sets=[
        case("normal", rng.normal(size=(90, 16)), 0.1 + 0.9 * rng.normal(size=(70, 16))),
        case("fewer than the width", rng.normal(size=(20, 48)), 0.2 + rng.normal(size=(25, 48))),
        case("far from the origin", 300 + rng.normal(size=(80, 10)), 300.2 + rng.normal(size=(80, 10))),
        case("one set below the width", rng.normal(size=(60, 30)), rng.normal(size=(12, 30))),
        case("scales", np.exp(2 * rng.normal(size=(90, 8))), np.exp(2 * rng.normal(size=(95, 8)))),
        case("singular covariances", flat, flat[::-1] * [1, 2, 1, 1, 1, 1] + 0.5),
        case("rectified", np.maximum(0, rng.normal(size=(120, 24))), np.maximum(0, 0.3 + rng.normal(size=(110, 24)))),
    ],
    abundances=[hill([46, 22, 17, 15, 15, 9, 8, 6, 6, 4, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1],
                     [1, 5, 50, 167, 168, 169, 250, 336]),
                hill([5, 1, 1, 1], [1, 4, 8, 12, 16]), hill([4, 4, 3], [1, 6, 11, 20]), hill([1, 1, 1, 1, 1], [2, 5, 9]),
                hill([7, 1], [3, 8, 16]), hill([3, 2, 2, 1], [4, 8, 16]), hill([9], [4, 9, 12])],
    retrieval=[retrieval(k, n, total, level) for k, n, total, level in
               [(3, 10, 20, 0.95), (10, 10, 40, 0.95), (14, 20, 30, 0.9), (1, 8, 12, 0.95), (25, 60, 60, 0.95),
                (30, 60, 200, 0.99), (12, 200, 40, 0.95)]],
), sys.stdout, indent=1)

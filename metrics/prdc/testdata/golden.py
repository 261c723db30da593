"""Scores and radii of small sets by prdc 0.2 (scikit-learn 1.9.1, numpy), for prdc_test.go.

Command: python golden.py > golden.json        Seed: 20261121
Each case holds both sets as base64 little-endian float32, k, the four scores and the radii of the real set.
"""
import base64, contextlib, io, json, sys
import numpy as np
import prdc
from prdc.prdc import compute_nearest_neighbour_distances

rng = np.random.default_rng(20261121)


def b64(a):
    return base64.b64encode(np.ascontiguousarray(a, "<f4").tobytes()).decode()


def case(name, real, fake, k):
    real, fake = real.astype(np.float32), fake.astype(np.float32)
    with contextlib.redirect_stdout(io.StringIO()):
        scores = prdc.compute_prdc(real_features=real, fake_features=fake, nearest_k=k)
    return dict(name=name, k=k, width=real.shape[1], real=b64(real), generated=b64(fake),
                radii=b64(compute_nearest_neighbour_distances(real, k)),
                **{s: float(v) for s, v in scores.items()})


def grid(n, d, side):
    return rng.integers(0, side, size=(n, d))


cases = [
    case("normal", rng.normal(size=(90, 16)), 0.1 + 0.9 * rng.normal(size=(70, 16)), 3),
    case("normal, k = 1", rng.normal(size=(60, 12)), rng.normal(size=(80, 12)), 1),
    case("far from the origin", 300 + rng.normal(size=(80, 10)), 300.2 + rng.normal(size=(80, 10)), 5),
    case("scales", np.exp(2 * rng.normal(size=(90, 8))), np.exp(2 * rng.normal(size=(90, 8))), 3),
    case("grid with ties", grid(250, 3, 7), grid(200, 3, 7), 3),
    case("grid with duplicates", grid(250, 2, 9), grid(300, 2, 10), 2),
    case("binary", grid(200, 12, 2), grid(200, 12, 2), 5),
    case("one ball", rng.normal(size=(40, 6)), 0.05 * rng.normal(size=(50, 6)), 3),
]
json.dump(cases, sys.stdout, indent=1)
print()

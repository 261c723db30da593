"""Components of the analysis of variance and standard errors clustered in two ways, by statsmodels.

python golden.py > golden.json    (statsmodels 0.15.0, pandas 3.1.1, numpy 2.4.6; seed 3)
"""
import json

import numpy as np
import pandas as pd
import statsmodels.formula.api as smf
from statsmodels.stats.anova import anova_lm
from statsmodels.stats.sandwich_covariance import cov_cluster, cov_cluster_2groups

rng = np.random.default_rng(3)
G, T, S = 4, 5, 6


def draw(repeats, nested):
    rows = [(g, t, s, r) for g in range(G) for t in range(T) for s in range(S) for r in range(repeats)]
    d = pd.DataFrame(rows, columns=["g", "t", "s", "r"])
    if nested:
        d["s"] = d.t * S + d.s
    effect = lambda sd, *c: d[list(c)].astype(str).agg("-".join, axis=1).map(
        {k: rng.normal(0, sd) for k in sorted(set(d[list(c)].astype(str).agg("-".join, axis=1)))})
    d["y"] = effect(1, "g") + effect(0.7, "t") + effect(0.5, "s") + effect(0.6, "g", "t") + rng.normal(0, 1, len(d))
    return d


def anova(d, nested):
    """Estimates from expected mean squares; the residual holds what is of three factors."""
    r = len(d) // (G * T * S)
    terms = "C(g)*C(t) + C(g)*C(s) + C(t)*C(s)" if not nested else "C(g)*C(t) + C(t):C(s) + C(g):C(t):C(s)"
    if nested:
        table = anova_lm(smf.ols("y ~ C(g)*C(t)", d).fit())
        ms = {k: table.loc[k, "mean_sq"] for k in ("C(g)", "C(t)", "C(g):C(t)")}
        cells = d.groupby(["t", "s"]).y.mean() - d.groupby("t").y.mean()
        ms_s = G * r * (cells**2).sum() / (T * (S - 1))
        left = d.y - d.groupby(["t", "s"]).y.transform("mean") - d.groupby(["g", "t"]).y.transform("mean") \
            + d.groupby("t").y.transform("mean")
        e = (left**2).sum() / (len(d) - T * S - G * T + T)
        gt = (ms["C(g):C(t)"] - e) / (S * r)
        s = (ms_s - e) / (G * r)
        return {"g": (ms["C(g)"] - ms["C(g):C(t)"]) / (T * S * r), "s in t": s, "g × t": gt,
                "t": (ms["C(t)"] - ms_s - ms["C(g):C(t)"] + e) / (G * S * r), "residual": e}
    table = anova_lm(smf.ols("y ~ " + terms, d).fit())
    ms = table["mean_sq"]
    e = ms["Residual"]
    gt, gs, ts = ((ms[k] - e) / n for k, n in (("C(g):C(t)", S * r), ("C(g):C(s)", T * r), ("C(t):C(s)", G * r)))
    main = lambda k, a, b, n: (ms[k] - ms[a] - ms[b] + e) / n
    return {"g": main("C(g)", "C(g):C(t)", "C(g):C(s)", T * S * r), "t": main("C(t)", "C(g):C(t)", "C(t):C(s)", G * S * r),
            "s": main("C(s)", "C(g):C(s)", "C(t):C(s)", G * T * r), "g × t": gt, "g × s": gs, "t × s": ts, "residual": e}


out = []
for name, d, nested in (("crossed", draw(1, False), False), ("nested", draw(1, True), True),
                        ("incomplete", draw(2, False).sample(frac=0.6, random_state=1).sort_index(), None)):
    case = {"name": name, "g": d.g.tolist(), "t": d.t.tolist(), "s": d.s.tolist(), "y": d.y.tolist()}
    if nested is not None:
        case["components"] = anova(d, nested)
    fit = smf.ols("y ~ C(g) - 1", d).fit()
    own = (len(d) - 1) / (len(d) - G)  # statsmodels' factor for the number of coefficients, which ours lacks
    covariances = {"t": cov_cluster(fit, d.t.values), "s": cov_cluster(fit, d.s.values),
                   "all": cov_cluster_2groups(fit, d.t.values, d.s.values)[0]}
    case["errors"] = {}
    for g in range(G):
        w = np.full(G, -1 / (G - 1))
        w[g] = 1
        case["errors"][g] = {k: float(np.sqrt(w @ c @ w / own)) for k, c in covariances.items()}
        case.setdefault("gaps", []).append(float(w @ fit.params))
    out.append(case)
print(json.dumps(out))

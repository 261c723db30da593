# Writes rle.json: masks and what pycocotools 2 makes of them. Run: python golden.py > rle.json  (pycocotools, numpy; seed 7)
import json
import numpy as np
from pycocotools import mask as coco

rng = np.random.default_rng(7)
shapes = [(1, 1), (1, 9), (9, 1), (5, 7), (32, 48), (64, 64), (200, 3)]
cases = []
def add(name, m):
    r = coco.encode(np.asfortranarray(m.astype(np.uint8)))
    assert (coco.decode(r) == m).all()
    cases.append({"name": name, "size": list(map(int, r["size"])), "counts": r["counts"].decode(),
                  "area": int(coco.area(r)), "rows": ["".join("#" if v else "." for v in row) for row in m]})
for h, w in shapes:
    add(f"empty {h}x{w}", np.zeros((h, w), bool))
    add(f"full {h}x{w}", np.ones((h, w), bool))
    for p in (0.02, 0.5, 0.9):
        add(f"random {p} {h}x{w}", rng.random((h, w)) < p)
yy, xx = np.mgrid[:64, :96]
add("disc", (yy - 30) ** 2 + (xx - 40) ** 2 < 400)
add("ring", abs((yy - 30) ** 2 + (xx - 40) ** 2 - 500) < 200)
add("long runs", np.arange(300 * 40).reshape(40, 300).T % 7001 < 3500)
print(json.dumps(cases, indent=0))

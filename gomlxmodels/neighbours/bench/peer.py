"""Side B of the benchmark: prdc.compute_prdc on the same sets. Usage: peer.py FOLDER D K"""
import contextlib
import io
import json
import sys
import time

begin = time.perf_counter()
import numpy as np
import prdc

folder, d, k = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
real = np.fromfile(folder + "/real.f32", dtype=np.float32).reshape(-1, d)
generated = np.fromfile(folder + "/generated.f32", dtype=np.float32).reshape(-1, d)


def compute(a, b):
    with contextlib.redirect_stdout(io.StringIO()):
        return prdc.compute_prdc(real_features=a, fake_features=b, nearest_k=k)


def resident(field):
    with open("/proc/self/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith(field)) / 1024


compute(real[:256], generated[:256])
print(json.dumps({"Ready": time.perf_counter() - begin}), flush=True)
before = resident("VmRSS:")
for _ in sys.stdin:
    with open("/proc/self/clear_refs", "w") as f:
        f.write("5")
    start = time.perf_counter()
    scores = compute(real, generated)
    seconds = time.perf_counter() - start
    print(json.dumps({"Seconds": seconds, "MiB": resident("VmHWM:") - before,
                      "Precision": float(scores["precision"]), "Coverage": float(scores["coverage"])}), flush=True)

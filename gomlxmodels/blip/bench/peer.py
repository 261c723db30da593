"""The other side of blip/bench: transformers' BlipForConditionalGeneration of the base shape, random weights, saved for both sides.

    python peer.py DIR THREADS SEED PICTURES TOKENS

It writes DIR/config.json, DIR/model.safetensors and DIR/pixels.f32. The command "PART N" writes exactly N tokens of every picture, in one
batch, greedily, and answers with the seconds up to the first token's logits ("first"), after them ("rest") or of all ("all"); the tokens are
left in DIR/tokens.json.
"""

import json
import pathlib
import sys
import time

start = time.time()
import torch
import transformers
from transformers import BlipConfig, BlipForConditionalGeneration, LogitsProcessor

root, threads, seed, pictures, tokens = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])
torch.set_num_threads(threads)
generator = torch.Generator().manual_seed(seed)
model = BlipForConditionalGeneration(BlipConfig(text_config=dict(num_attention_heads=12))).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.normal_(0, 0.05 if "embedding" in name else 1.2 * p[0].numel() ** -0.5, generator=generator)
model.save_pretrained(root)
pixels = torch.randn(pictures, 3, 384, 384, generator=generator)
pixels.numpy().tofile(root / "pixels.f32")



class Clock(LogitsProcessor):
    first = None

    def __call__(self, ids, scores):
        self.first = self.first or time.perf_counter()
        return scores


print(json.dumps({"seconds": time.time() - start, "name": f"transformers {transformers.__version__} on torch {torch.__version__}"}), flush=True)
with torch.inference_mode():
    for line in sys.stdin:
        part, n = line.split()
        n, clock = int(n), Clock()
        begin = time.perf_counter()
        out = model.generate(pixel_values=pixels, do_sample=False, max_new_tokens=n, min_new_tokens=n, logits_processor=[clock])
        end = time.perf_counter()
        seconds = {"first": clock.first - begin, "rest": end - clock.first, "all": end - begin}[part]
        (root / "tokens.json").write_text(json.dumps(out[:, 1:].tolist()))
        print(json.dumps({"seconds": seconds}), flush=True)

"""The other side of clipseg/bench: transformers' CLIPSegForImageSegmentation in rd64-refined's shape, random weights, saved for both sides.

    python peer.py DIR THREADS SEED PICTURES

It writes DIR/config.json, DIR/model.safetensors, DIR/preprocessor_config.json, DIR/pixels.f32. Commands: "whole BATCH" is the model as the library
has it, "cut BATCH" the same without the layers of the image tower behind the last extracted one, which change nothing. Both are given the
prompt's vector, computed once. The last logits are left in DIR/logits.f32.
"""

import json
import pathlib
import sys
import time

start = time.time()
import numpy as np
import torch
import transformers
from transformers import CLIPSegConfig, CLIPSegForImageSegmentation, ViTImageProcessor

root, threads, seed, pictures = pathlib.Path(sys.argv[1]), *map(int, sys.argv[2:])
torch.set_num_threads(threads)
torch.manual_seed(seed)
model = CLIPSegForImageSegmentation(CLIPSegConfig(vision_config=dict(patch_size=16), use_complex_transposed_convolution=True)).eval()
with torch.no_grad():
    for p in model.parameters():
        if p.dim() > 1:
            p.normal_(0, 0.03)
model.save_pretrained(root)
ViTImageProcessor(size={"height": 352, "width": 352}).save_pretrained(root)
pixels = torch.from_numpy(np.random.default_rng(seed).standard_normal((pictures, 3, 352, 352), np.float32))
pixels.numpy().tofile(root / "pixels.f32")
ids = torch.tensor([[49406, 320, 2368, 49407]])
layers = model.clip.vision_model.encoder.layers

print(json.dumps({"seconds": time.time() - start, "name": f"transformers {transformers.__version__} on torch {torch.__version__}"}), flush=True)
with torch.inference_mode():
    prompt = model.clip.get_text_features(ids).pooler_output
    for line in sys.stdin:
        what, batch = line.split()
        batch = int(batch)
        model.clip.vision_model.encoder.layers = layers if what == "whole" else layers[: max(model.config.extract_layers) + 1]
        begin = time.perf_counter()
        out = [model(pixel_values=x, conditional_embeddings=prompt.expand(len(x), -1)).logits.reshape(len(x), -1) for x in pixels.split(batch)]
        seconds = time.perf_counter() - begin
        torch.cat(out).numpy().tofile(root / "logits.f32")
        print(json.dumps({"seconds": seconds}), flush=True)

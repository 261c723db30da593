"""transformers' BlipForConditionalGeneration of the base shape, random weights. Arguments: the numbers of images and of tokens, and what computes the
images' features: transformers, or openvino, openvino-bfloat16 or onnxruntime.

It writes the model and pixels.f32. Command `run` writes exactly so many tokens for every image, in one batch, greedily; the parts are the time to the
first token's logits, the time after them, and all. The tokens are saved in tokens.json.
"""

import json
import time

import torch
import transformers
from transformers import BlipConfig, BlipForConditionalGeneration, LogitsProcessor

from peer import arguments, exported, folder, seed, serve, threads

images, tokens, mode = int(arguments[0]), int(arguments[1]), arguments[2]
torch.set_num_threads(threads)
generator = torch.Generator().manual_seed(seed)
model = BlipForConditionalGeneration(BlipConfig(text_config=dict(num_attention_heads=12))).eval()
with torch.no_grad():
    for name, p in model.named_parameters():
        if p.dim() > 1:
            p.normal_(0, 0.05 if "embedding" in name else 1.2 * p[0].numel() ** -0.5, generator=generator)
model.save_pretrained(folder)
pixels = torch.randn(images, 3, 384, 384, generator=generator)
pixels.numpy().tofile(folder / "pixels.f32")


class Vision(torch.nn.Module):
    """The tower of images as a module, which can be exported."""

    def __init__(self):
        super().__init__()
        self.tower = model.vision_model

    def forward(self, x):
        return self.tower(pixel_values=x).last_hidden_state


if mode != "transformers":
    features = exported(mode, Vision(), (pixels,))
    model.vision_model.forward = lambda pixel_values, **_: transformers.modeling_outputs.BaseModelOutputWithPooling(last_hidden_state=features(pixel_values))


class Clock(LogitsProcessor):
    first = None

    def __call__(self, ids, scores):
        self.first = self.first or time.perf_counter()
        return scores


@torch.inference_mode()
def run(_):
    clock, begin = Clock(), time.perf_counter()
    out = model.generate(pixel_values=pixels, do_sample=False, max_new_tokens=tokens, min_new_tokens=tokens, logits_processor=[clock])
    end = time.perf_counter()
    (folder / "tokens.json").write_text(json.dumps(out[:, 1:].tolist()))
    return {"seconds": [clock.first - begin, end - clock.first, end - begin]}


serve(("" if mode == "transformers" else mode + " with ") + f"transformers {transformers.__version__}, torch {torch.__version__}", run)

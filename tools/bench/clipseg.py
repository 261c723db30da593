"""transformers' CLIPSegForImageSegmentation in rd64-refined's shape, random weights. Argument: the number of images.

It writes the model and pixels.f32. Command `whole BATCH` is the model as the library has it, `cut BATCH` the same without the layers of the image
tower after the last extracted one, which have no influence. Both receive the prompt's embedding, computed once.
"""

import numpy as np
import torch
import transformers
from transformers import CLIPSegConfig, CLIPSegForImageSegmentation, ViTImageProcessor

from peer import arguments, folder, seed, serve, threads

torch.set_num_threads(threads)
torch.manual_seed(seed)
model = CLIPSegForImageSegmentation(CLIPSegConfig(vision_config=dict(patch_size=16), use_complex_transposed_convolution=True)).eval()
with torch.no_grad():
    for p in model.parameters():
        if p.dim() > 1:
            p.normal_(0, 0.03)
model.save_pretrained(folder)
ViTImageProcessor(size={"height": 352, "width": 352}).save_pretrained(folder)
pixels = torch.from_numpy(np.random.default_rng(seed).standard_normal((int(arguments[0]), 3, 352, 352), np.float32))
pixels.numpy().tofile(folder / "pixels.f32")
layers = model.clip.vision_model.encoder.layers
with torch.inference_mode():
    prompt = model.clip.get_text_features(torch.tensor([[49406, 320, 2368, 49407]])).pooler_output


@torch.inference_mode()
def run(mode, batch):
    model.clip.vision_model.encoder.layers = layers if mode == "whole" else layers[: max(model.config.extract_layers) + 1]
    return torch.cat([model(pixel_values=x, conditional_embeddings=prompt.expand(len(x), -1)).logits.reshape(len(x), -1) for x in pixels.split(int(batch))])


serve(f"transformers {transformers.__version__}, torch {torch.__version__}", run)

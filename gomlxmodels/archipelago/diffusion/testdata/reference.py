"""Pictures by diffusers: reference.py FOLDER OUT SEED STEPS GUIDANCE PROMPT... writes the RGB bytes of each prompt's picture, from seeds SEED, SEED+1, ..."""
import sys

import torch
from diffusers import StableDiffusionPipeline

folder, out, seed, steps, guidance = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4]), float(sys.argv[5])
pipe = StableDiffusionPipeline.from_pretrained(folder, torch_dtype=torch.float32)
pipe.set_progress_bar_config(disable=True)
with open(out, "wb") as f:
    for i, prompt in enumerate(sys.argv[6:]):
        picture = pipe(prompt, num_inference_steps=steps, guidance_scale=guidance, generator=torch.Generator().manual_seed(seed + i)).images[0]
        f.write(picture.convert("RGB").tobytes())

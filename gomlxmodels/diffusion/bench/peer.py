"""The other side of diffusion/bench: diffusers' StableDiffusionPipeline of 1.5's size, random weights, saved for both sides.

    python peer.py DIR THREADS SEED SIDE STEPS

It writes DIR/pipeline in a process of its own, so that making it counts in nobody's memory (weights in float16; both sides compute in
float32). Commands: "unet" samples a picture and answers the seconds of its last step, "decoder" those of its decoding. The picture is
left in DIR/picture.f32, the most memory the process has held, in MiB, in DIR/memory.f32.
"""

import json
import multiprocessing
import pathlib
import resource
import sys
import time

start = time.time()
import diffusers
import numpy as np
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

root, (threads, seed, side, steps) = pathlib.Path(sys.argv[1]), map(int, sys.argv[2:])
torch.set_num_threads(threads)


def make():
    torch.manual_seed(seed)
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters = [chr(b) for b in printable] + [chr(256 + i) for i in range(256 - len(printable))]
    vocab = letters + [c + "</w>" for c in letters] + ["<|startoftext|>", "<|endoftext|>"]
    words = root / "words"
    words.mkdir()
    (words / "vocab.json").write_text(json.dumps({t: i for i, t in enumerate(vocab)}))
    (words / "merges.txt").write_text("#version: 0.2\n")
    tokenizer = CLIPTokenizer.from_pretrained(words, model_max_length=77, pad_token="<|endoftext|>", unk_token="<|endoftext|>")
    text = CLIPTextConfig(vocab_size=49408, hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12, bos_token_id=49406, eos_token_id=49407)
    widths = (128, 256, 512, 512)
    StableDiffusionPipeline(
        text_encoder=CLIPTextModel(text).half(), tokenizer=tokenizer, unet=UNet2DConditionModel(cross_attention_dim=768, sample_size=64).half(),
        vae=AutoencoderKL(block_out_channels=widths, down_block_types=("DownEncoderBlock2D",) * 4, up_block_types=("UpDecoderBlock2D",) * 4, layers_per_block=2, sample_size=512).half(),
        scheduler=DDIMScheduler(beta_start=0.00085, beta_end=0.012, beta_schedule="scaled_linear", clip_sample=False, set_alpha_to_one=False, steps_offset=1),
        safety_checker=None, feature_extractor=None, requires_safety_checker=False).save_pretrained(root / "pipeline")


def serve():
    pipe = StableDiffusionPipeline.from_pretrained(root / "pipeline", torch_dtype=torch.float32)
    pipe.set_progress_bar_config(disable=True)
    pipe.unet.to(memory_format=torch.channels_last)
    pipe.vae.to(memory_format=torch.channels_last)
    print(json.dumps({"seconds": time.time() - start, "name": f"diffusers {diffusers.__version__} on torch {torch.__version__}"}), flush=True)
    ends = []

    def end(_, __, ___, kept):
        ends.append(time.perf_counter())
        return kept

    for line in sys.stdin:
        if line.strip() == "unet":
            ends.clear()
            with torch.inference_mode():
                picture = pipe("a small house by the sea", negative_prompt="blurry", height=side, width=side, num_inference_steps=steps, guidance_scale=7.5,
                               generator=torch.Generator().manual_seed(seed), callback_on_step_end=end, output_type="np").images[0]
            ends.append(time.perf_counter())
            (picture * 255).round().astype(np.float32).tofile(root / "picture.f32")
            np.array([resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10], np.float32).tofile(root / "memory.f32")
        seconds = ends[-2] - ends[-3] if line.strip() == "unet" else ends[-1] - ends[-2]
        print(json.dumps({"seconds": seconds}), flush=True)


if __name__ == "__main__":
    maker = multiprocessing.get_context("spawn").Process(target=make)
    maker.start()
    maker.join()
    sys.exit(maker.exitcode or serve())

"""diffusers' StableDiffusionPipeline of 1.5's size, random weights. Arguments: the side of the image, the number of steps, and what computes UNet and
decoder: diffusers, or openvino, openvino-bfloat16 or onnxruntime.

It writes the folder pipeline in a process of its own, so that creating it does not count in the peak memory (weights in float16; both sides compute in
float32). Command `run` samples an image; the parts are the last step and the decoding.
"""

import multiprocessing
import json
import sys
import time

import diffusers
import torch
from diffusers import AutoencoderKL, DDIMScheduler, StableDiffusionPipeline, UNet2DConditionModel
from transformers import CLIPTextConfig, CLIPTextModel, CLIPTokenizer

from peer import arguments, exported, folder, resident, seed, serve, threads

side, steps, mode = int(arguments[0]), int(arguments[1]), arguments[2]
torch.set_num_threads(threads)


def make():
    torch.manual_seed(seed)
    printable = list(range(33, 127)) + list(range(161, 173)) + list(range(174, 256))
    letters = [chr(b) for b in printable] + [chr(256 + i) for i in range(256 - len(printable))]
    vocab = letters + [c + "</w>" for c in letters] + ["<|startoftext|>", "<|endoftext|>"]
    words = folder / "words"
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
        safety_checker=None, feature_extractor=None, requires_safety_checker=False).save_pretrained(folder / "pipeline")


class Step(torch.nn.Module):
    """The UNet as a module, which can be exported."""

    def __init__(self, unet):
        super().__init__()
        self.unet = unet

    def forward(self, sample, time, states):
        return self.unet(sample, time, encoder_hidden_states=states, return_dict=False)[0]


def export(pipe):
    latents = torch.zeros(2, 4, side // 8, side // 8)
    step = exported(mode, Step(pipe.unet), (latents, torch.tensor([1, 1]), torch.zeros(2, 77, 768)))
    pipe.unet.forward = lambda sample, time, encoder_hidden_states, **_: (step(sample, time.expand(2), encoder_hidden_states),)
    pipe.vae.decoder.forward = exported(mode, pipe.vae.decoder, (latents[:1],))


def main():
    pipe = StableDiffusionPipeline.from_pretrained(folder / "pipeline", torch_dtype=torch.float32)
    pipe.set_progress_bar_config(disable=True)
    pipe.unet.to(memory_format=torch.channels_last)
    pipe.vae.to(memory_format=torch.channels_last)

    if mode != "diffusers":
        export(pipe)

    @torch.inference_mode()
    def run(_):
        ends = []

        def end(_, __, ___, kept):
            ends.append(time.perf_counter())
            return kept

        image = pipe("a small house by the sea", negative_prompt="blurry", height=side, width=side, num_inference_steps=steps, guidance_scale=7.5,
                     generator=torch.Generator().manual_seed(seed), callback_on_step_end=end, output_type="np").images[0]
        ends.append(time.perf_counter())
        return {"seconds": [ends[-2] - ends[-3], ends[-1] - ends[-2]], "mib": resident("VmHWM"), "array": (image * 255).round()}

    serve(("" if mode == "diffusers" else mode + " with ") + f"diffusers {diffusers.__version__}, torch {torch.__version__}", run)


if __name__ == "__main__":
    maker = multiprocessing.get_context("spawn").Process(target=make)
    maker.start()
    maker.join()
    sys.exit(maker.exitcode or main())

"""transformers' OWLv2 and SAM 2.1 in the shapes of owlv2-base-patch16-ensemble and sam2.1-hiera-tiny, random weights. Argument: the number of boxes.

It writes the folders detector and segmenter, pixels.f32 (960×960), stretched.f32 (1024×1024) and boxes.f32. Command `run` computes both for one image:
seconds of the detector without its text tower, of SAM 2.1's image encoder, of its mask decoder, and of both; the boxes' scores in descending order, and the
masks' logits.
"""

import time

import numpy as np
import torch
import transformers
from tokenizers.pre_tokenizers import ByteLevel
from transformers import (
    CLIPTokenizer,
    Owlv2Config,
    Owlv2ForObjectDetection,
    Owlv2ImageProcessor,
    Owlv2Processor,
    Sam2Config,
    Sam2ImageProcessor,
    Sam2Model,
)

from peer import arguments, folder, resident, seed, serve, threads

torch.set_num_threads(threads)
torch.manual_seed(seed)
# the published base model differs from the default configuration in the size of its image
owl = Owlv2Config(text_config=dict(bos_token_id=523, eos_token_id=524, vocab_size=525), vision_config=dict(image_size=960, patch_size=16))
detector, segmenter = Owlv2ForObjectDetection(owl).eval(), Sam2Model(Sam2Config()).eval()
with torch.no_grad():
    for model in (detector, segmenter):
        for name, p in model.named_parameters():
            if "_head." in name and model is detector:
                p.mul_(0.03)
            if "positional_embedding" not in name:
                p.add_(torch.randn(p.shape) * 0.02)
    segmenter.prompt_encoder.shared_embedding.positional_embedding.copy_(segmenter.shared_image_embedding.positional_embedding)
letters = sorted(ByteLevel.alphabet())
words = letters + [c + "</w>" for c in letters]
words += [f"unused{i}" for i in range(523 - len(words))] + ["<|startoftext|>", "<|endoftext|>"]
tokenizer = CLIPTokenizer(vocab={w: i for i, w in enumerate(words)}, merges=[], pad_token="!", model_max_length=16)
detector.save_pretrained(folder / "detector")
Owlv2Processor(Owlv2ImageProcessor(), tokenizer).save_pretrained(folder / "detector")
segmenter.save_pretrained(folder / "segmenter")
Sam2ImageProcessor().save_pretrained(folder / "segmenter")

rng = np.random.default_rng(seed)
pixels = rng.standard_normal((1, 3, 960, 960), np.float32)
stretched = rng.standard_normal((1, 3, 1024, 1024), np.float32)
corners = np.sort(rng.integers(0, 1000, (int(arguments[0]), 2, 2)), 1).astype(np.float32) + [[0, 0], [9, 9]]
boxes = corners.reshape(1, -1, 4).astype(np.float32)
for name, values in dict(pixels=pixels, stretched=stretched, boxes=boxes).items():
    values.tofile(folder / f"{name}.f32")
pixels, stretched, boxes = (torch.from_numpy(x) for x in (pixels, stretched, boxes))
ids = torch.zeros(1, 16, dtype=torch.long)
ids[0, :3] = torch.tensor([523, 70, 524])
with torch.inference_mode():
    text = detector.owlv2.text_projection(detector.owlv2.text_model(input_ids=ids, attention_mask=(ids > 0).long()).pooler_output)[None]
    text = text / text.norm(dim=-1, keepdim=True)


@torch.inference_mode()
def run(_):
    start = time.perf_counter()
    features = detector.image_embedder(pixels)[0]
    flat = features.flatten(1, 2)
    logits = detector.class_predictor(flat, text, torch.ones(1, 1, dtype=torch.bool))[0]
    detector.box_predictor(flat, features)
    middle = time.perf_counter()
    image = segmenter.get_image_embeddings(stretched)
    encoded = time.perf_counter()
    masks = segmenter(image_embeddings=image, input_boxes=boxes, multimask_output=False).pred_masks
    end = time.perf_counter()
    scores = logits.sigmoid().max(-1)[0].flatten().sort(descending=True)[0]
    seconds = [middle - start, encoded - middle, end - encoded, end - middle]
    return dict(seconds=seconds, array=torch.cat([scores, masks.flatten()]), mib=resident("VmHWM"))


serve(f"transformers {transformers.__version__}, torch {torch.__version__}", run)

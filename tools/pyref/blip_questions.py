#!/usr/bin/env python3
"""Goldens for the question answering of gomlxmodels/blip: a small random BlipForQuestionAnswering with a tokenizer and what transformers
computes with it.

    python tools/pyref/blip_questions.py gomlxmodels/blip/testdata/questions
    python tools/pyref/blip_questions.py --real FOLDER

With --real the model has the shape of blip-vqa-base (1.5 GB). questions.json lists, for each case, the image, the tokens of the question
and of each choice (as the tokenizer writes them), the log-likelihood of each choice (its tokens and the end, summed), the tokens of the
greedy answer, and the seconds of all three; golden.safetensors has pixels, of which the
last are those of image (bytes), hidden.N [L,D], the encoded question of case N, and logits.N_K [T,V], the decoder's with choice K forced. A question is encoded alone, without padding.

Versions: torch 2.15.0, transformers 5.24.0, safetensors, Python 3.11+. Seed 20220130. Torch runs in float32.
"""

import json
import pathlib
import shutil
import sys
import time

import torch
from blip import WORDS, config, shake
from PIL import Image
from safetensors.torch import save_file
from transformers import BertTokenizer, BlipConfig, BlipForQuestionAnswering, BlipImageProcessor

SEED = 20220130
QUESTIONS = [
    ("man in the boat", ["man", "dog", "red house by the river"]),
    ("a red house, a green tree and small fish on the table near the window - by the sea", ["cat", "dog"]),
    ("dog", ["sun", "rain", "night", "day", "song", "the old market", "train", "bird"]),
    ("Child sitting by the lamp", ["sitting", "standing", "walking"]),
    ("a man and a dog in the boat, by the river", ["man", "dog", "cat"]),  # about the image
]


def random_ids(g, n, low, high):
    return torch.randint(low, high, (n,), generator=g).tolist()


def case(model, pixels, question, choices):
    """Hidden states, logits and likelihoods of one question; choices begin with the start token and end with the end token."""
    c = model.config.text_config
    begin = time.monotonic()
    with torch.inference_mode():
        image = model.vision_model(pixel_values=pixels).last_hidden_state
        hidden = model.text_encoder(input_ids=torch.tensor([question]), encoder_hidden_states=image, encoder_attention_mask=torch.ones(image.shape[:2], dtype=torch.long))[0]
        longest = max(map(len, choices))
        ids = torch.tensor([x + [c.pad_token_id] * (longest - len(x)) for x in choices])
        mask = torch.tensor([[1] * len(x) + [0] * (longest - len(x)) for x in choices])
        logits = model.text_decoder(input_ids=ids, attention_mask=mask, encoder_hidden_states=hidden.repeat(len(choices), 1, 1), encoder_attention_mask=torch.ones(len(choices), hidden.shape[1], dtype=torch.long)).logits
        steps = logits[:, :-1].log_softmax(-1).gather(-1, ids[:, 1:, None])[..., 0] * mask[:, 1:]
        start = torch.tensor([[c.bos_token_id]])
        written = model.text_decoder.generate(input_ids=start, eos_token_id=c.sep_token_id, pad_token_id=c.pad_token_id, encoder_hidden_states=hidden, encoder_attention_mask=torch.ones(hidden.shape[:2], dtype=torch.long), do_sample=False, max_new_tokens=10)
    seconds = time.monotonic() - begin
    with torch.inference_mode():
        whole = model.generate(input_ids=torch.tensor([question]), pixel_values=pixels, do_sample=False, max_new_tokens=10)
    assert whole.tolist() == written.tolist()
    return hidden[0], [logits[i, : len(x) - 1] for i, x in enumerate(choices)], steps.sum(-1).tolist(), written[0, 1:].tolist(), seconds


def main(root, real):
    g = torch.Generator().manual_seed(SEED)
    if real:
        root.mkdir(parents=True, exist_ok=True)
        model = BlipForQuestionAnswering(BlipConfig(text_config=dict(num_attention_heads=12))).eval()
        with torch.no_grad():
            for name, p in model.named_parameters():
                if p.ndim > 1:
                    p.normal_(0, 0.06 if "embedding" in name else 1.2 * p[0].numel() ** -0.5, generator=g)
                else:
                    p.add_(torch.randn(p.shape, generator=g) * 0.05)
            model.text_decoder.bert.embeddings.position_embeddings.weight.mul_(4)
        model.save_pretrained(root)
        pairs = [([101, *random_ids(g, n, 1000, 30000), 102], [[30522, *random_ids(g, k, 1000, 30000), 102] for k in ks]) for n, ks in [(6, (1, 1)), (9, (1, 2, 4)), (20, (1, 1, 1, 1)), (7, (3, 1))]]
        texts = [("", [""] * len(c)) for _, c in pairs]
    else:
        torch.set_num_threads(1)
        shutil.rmtree(root, ignore_errors=True)
        root.mkdir(parents=True)
        model = shake(BlipForQuestionAnswering(config(text=dict(hidden_size=24, intermediate_size=32, num_attention_heads=3), vision=dict(hidden_size=24, num_hidden_layers=1))), g)
        with torch.no_grad():
            model.text_decoder.cls.predictions.decoder.bias[5] += 3.5  # the end
        model.save_pretrained(root)
        words = (WORDS + ["word%d" % i for i in range(99)])[:96]
        (root / "vocab.txt").write_text("\n".join(words) + "\n")
        tokenizer = BertTokenizer(vocab=str(root / "vocab.txt"))
        tokenizer.save_pretrained(root)
        BlipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(root)
        texts, start = QUESTIONS, model.config.text_config.bos_token_id
        pairs = [(tokenizer(q).input_ids, [[start, *tokenizer(c).input_ids[1:]] for c in choices]) for q, choices in texts]
    side = model.config.vision_config.image_size
    pixels = torch.randn(2, 3, side, side, generator=g) * 2
    out, cases = {"pixels": pixels}, []
    if not real:
        out["image"] = torch.randint(0, 256, (16, 20, 3), generator=g)
        processed = BlipImageProcessor.from_pretrained(root)(Image.fromarray(out["image"].to(torch.uint8).numpy()), return_tensors="pt").pixel_values
        out["pixels"] = pixels = torch.cat([pixels, processed])
    for n, ((question, choices), (text, words)) in enumerate(zip(pairs, texts)):
        at = n // 2
        hidden, logits, sums, written, seconds = case(model, pixels[at : at + 1], question, choices)
        out[f"hidden.{n}"] = hidden
        for k, x in enumerate(logits):
            out[f"logits.{n}_{k}"] = x
        cases.append(dict(image=at, text=text, words=words, question=question, choices=choices, likelihoods=sums, written=written, seconds=seconds if real else 0))
    (root / "questions.json").write_text("[\n" + ",\n".join(json.dumps(c) for c in cases) + "\n]\n")
    save_file({k: v.float().contiguous() for k, v in out.items()}, root / "golden.safetensors")
    print(json.dumps([dict(written=c["written"], likelihoods=c["likelihoods"], seconds=c["seconds"]) for c in cases]))


if __name__ == "__main__":
    main(pathlib.Path(sys.argv[-1]), "--real" in sys.argv)

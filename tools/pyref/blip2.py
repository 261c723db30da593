#!/usr/bin/env python3
"""Goldens for gomlxmodels/blip2: small random BLIP-2 models, saved as transformers saves them (one as the hub's first BLIP-2 folders are),
with what every stage gives, with what generate makes of pictures, and with the features of pictures and texts.

    python tools/pyref/blip2.py gomlxmodels/blip2/testdata

Versions: torch 2.15.0, transformers 5.23.0, tokenizers, safetensors, Pillow 13.0.0, Python 3.11+. Seed 20230130 (per configuration: +
its number). Torch runs on one thread in float32. Captions that float64 would write otherwise (a near tie decides) are left out and
counted. Pictures are given to generate one by one: where words are narrower than the language model, transformers mixes those of a batch.
"""

import copy
import json
import pathlib
import shutil
import sys

import torch
from PIL import Image
from safetensors.torch import load_file, save_file
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors, trainers
from transformers import BertTokenizer, Blip2Config, Blip2ForConditionalGeneration, Blip2ForImageTextRetrieval, Blip2Model, Blip2Processor, BlipImageProcessor, PreTrainedTokenizerFast

from blip import SETTINGS, WORDS

torch.set_num_threads(1)
SEED = 20230130


def config(ends, text=None, vision=None, qformer=None, **kw):
    small = dict(hidden_size=32, intermediate_size=48, num_hidden_layers=2, num_attention_heads=4)
    t = dict(model_type="opt", vocab_size=324, hidden_size=32, ffn_dim=48, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=48, eos_token_id=ends)
    return Blip2Config(text_config={**t, **(text or {})}, vision_config={**small, "image_size": 28, "patch_size": 7, **(vision or {})},
                       qformer_config={**small, "hidden_size": 24, "intermediate_size": 40, "vocab_size": 99, "max_position_embeddings": 40, **(qformer or {})}, num_query_tokens=6, image_text_hidden_size=20, **kw)


def shake(model, generator):
    """Random values in every parameter, none at a start value that hides a mistake."""
    with torch.no_grad():
        for name, p in model.named_parameters():
            table = "embed" in name and "patch" not in name or "query_tokens" in name
            p.normal_(0, 0.8 if table else p[0].numel() ** -0.5 * 1.25 if p.ndim >= 2 else 0.15, generator=generator)
            if "embed_positions" in name:
                p.mul_(4)
            if "norm" in name.lower() and name.endswith("weight"):
                p.add_(1)
        if hasattr(model, "language_model"):
            model.language_model.tie_weights()
    return model.eval()


def ends_of(model):
    e = model.config.text_config.eos_token_id
    return e if isinstance(e, list) else [e]


def lift(model, generator):
    """Lengthens the ends' rows of the head until about half of the greedy captions end, by each of the ends."""
    side, ends = model.config.vision_config.image_size, ends_of(model)
    pixels = torch.randn(24, 3, side, side, generator=generator) * 2
    for end in ends:
        for _ in range(80):
            if sum(c[0][0][-1] == end for c in write(model, pixels, [])[0]) >= 12 // len(ends):
                break
            with torch.no_grad():
                model.language_model.lm_head.weight[end] *= 1.06


def write(model, pixels, prompt, **kw):
    """Captions of each picture: tokens after the prompt, the end included, and the scores of beams; the logits of every step."""
    c, rows, steps = model.config, [], []
    ends, many = ends_of(model), kw.get("num_return_sequences", 1)
    kw = {"max_new_tokens": 14, "do_sample": False, "return_dict_in_generate": True, "output_logits": True, "output_scores": True, **kw}
    ids = torch.tensor([[c.text_config.bos_token_id, *prompt]])
    grouped = []
    for p in pixels:
        with torch.inference_mode():
            if c.image_token_index is None:  # as transformers wrote before there were image tokens: the queries stand before the text
                embeds = torch.cat([context(model, p[None]), model.get_input_embeddings()(ids)], 1)
                out = model.language_model.generate(inputs_embeds=embeds, attention_mask=torch.ones(embeds.shape[:2], dtype=torch.long), **kw)
                skip = 0
            else:
                whole = torch.cat([torch.full((1, c.num_query_tokens), c.image_token_index), ids], 1)
                out = model.generate(pixel_values=p[None], input_ids=whole, attention_mask=torch.ones_like(whole), **kw)
                skip = whole.shape[1]
        rows = []
        for row in out.sequences[:, skip:].tolist():
            at = next((i for i, t in enumerate(row) if t in ends), len(row))
            rows.append(row[: at + 1])
        scores = getattr(out, "sequences_scores", None)
        grouped.append(list(zip(rows, [None] * many if scores is None else [round(s, 6) for s in scores.tolist()])))
        steps.append(torch.stack(out.logits)[:, 0])
    longest = max(len(s) for s in steps)
    return grouped, torch.stack([torch.cat([s, s[-1:].expand(longest - len(s), -1)]) for s in steps], 1)  # [step,picture,V]; what is filled up has no meaning


def context(model, pixels):
    c, qformer = model.config, Blip2Model.get_qformer_features
    x = model.language_projection(qformer(model, pixels))
    return x.reshape(len(x), -1)[:, : c.num_query_tokens * c.text_config.word_embed_proj_dim].reshape(len(x), c.num_query_tokens, -1)


def captions(model, pixels, prompts):
    cases, dropped = [], 0
    exact = copy.deepcopy(model).double()
    exact._keep_in_fp32_modules = None
    for s in SETTINGS:
        if model.config.image_token_index is None and "repetition_penalty" in s:
            continue  # there the penalty did not know the prompt
        for p in prompts:
            a, _ = write(model, pixels, p, **s)
            b, _ = write(exact, pixels.double(), p, **s)
            for picture, (x, y) in enumerate(zip(a, b)):
                if [t for t, _ in x] != [t for t, _ in y]:
                    dropped += 1
                    continue
                cases.append(dict(settings=s, prompt=p, picture=picture, tokens=[t for t, _ in x], scores=None if x[0][1] is None else [v for _, v in x]))
    return cases, dropped


def stages(model, pixels, ids):
    """What every stage gives; the language model's of the first two pictures, each with a row of ids."""
    out, hooks = {}, []

    def keep(name, module):
        def hook(_, __, result):
            out.setdefault(name, []).append(result[0] if isinstance(result, tuple) else result)

        hooks.append(module.register_forward_hook(hook))

    keep("vision.embedded", model.vision_model.embeddings)
    for i, layer in enumerate(model.vision_model.encoder.layers):
        keep(f"vision.block_{i}", layer)
    for i, layer in enumerate(model.qformer.encoder.layer):
        keep(f"qformer.block_{i}", layer)
    decoder = model.language_model.model.decoder
    hooks.append(decoder.layers[0].register_forward_pre_hook(lambda _, args: out.setdefault("text.embedded", []).append(args[0])))
    for i, layer in enumerate(decoder.layers):
        keep(f"text.block_{i}", layer)
    with torch.inference_mode():
        for p, row in zip(pixels, ids):
            x = context(model, p[None])
            out.setdefault("context", []).append(x)
            embeds = torch.cat([x, model.get_input_embeddings()(row[None])], 1)
            out.setdefault("text.logits", []).append(model.language_model(inputs_embeds=embeds, attention_mask=torch.ones(embeds.shape[:2], dtype=torch.long)).logits)
    for h in hooks:
        h.remove()
    return {k: torch.cat(v) for k, v in out.items()}


def features(model, pixels, out):
    """The vectors of pictures: transformers' own outputs, and their means."""
    with torch.inference_mode():
        seen = model.vision_model(pixels)
        out["vision.tokens"], out["vision.pooled"] = seen.last_hidden_state, seen.pooler_output
        out["patches"] = seen.last_hidden_state[:, 1:].mean(1)
        out["qformer"] = Blip2Model.get_qformer_features(model, pixels)  # [B,K,D]
        out["queries"] = out["qformer"].mean(1)


def golden(model, generator, folder, prompts):
    side, v = model.config.vision_config.image_size, model.config.text_config.vocab_size
    pixels = torch.randn(5, 3, side, side, generator=generator) * 2
    ids = torch.randint(6, v - 4, (2, 7), generator=generator)
    out = stages(model, pixels[:2], ids)
    features(model, pixels, out)
    grouped, out["step.logits"] = write(model, pixels, prompts[0])
    out["pixels"], out["ids"] = pixels, ids
    cases, dropped = captions(model, pixels, prompts)
    _, exact = write(copy.deepcopy(model).double(), pixels.double(), prompts[0])
    print(f"logits differ from those of float64 by up to {(exact - out['step.logits'])[:, 0].abs().max() / exact.std():.1e} of their scale")
    ends = ends_of(model)
    last = [t[-1] for c in cases for t in c["tokens"]]
    print(f"{folder.name}: greedy captions of {[len(c[0][0]) for c in grouped]} tokens; {len(cases)} cases, {dropped} dropped, {[sum(t == e for t in last) for e in ends]} of {len(last)} captions end, {len({json.dumps(c['tokens']) for c in cases})} differ")
    (folder / "captions.json").write_text("[\n" + ",\n".join(json.dumps(c, separators=(",", ":")) for c in cases) + "\n]\n")
    return out


def save(out, folder):
    save_file({k: v.float().contiguous() for k, v in out.items()}, folder / "golden.safetensors")


def picture(generator, width=53, height=40):
    y, x = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
    return torch.stack([(x * 5 + y * 3) % 256, (x * y) % 256, torch.randint(0, 256, (height, width), generator=generator)], -1)


def byte_tokens(words):
    """A tokenizer as OPT's: bytes, merged; every text begins with </s>. It has no image token: processors add one."""
    t = Tokenizer(models.BPE())
    t.pre_tokenizer, t.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
    t.train_from_iterator([" ".join(words)] * 3 + ["a photo of a house. Question: what is it? Answer: a red house"], trainers.BpeTrainer(
        vocab_size=320, special_tokens=["<s>", "<pad>", "</s>", "<unk>"], initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False))
    t.post_processor = processors.TemplateProcessing(single="</s> $A", special_tokens=[("</s>", 2)])
    return PreTrainedTokenizerFast(tokenizer_object=t, bos_token="</s>", eos_token="</s>", unk_token="</s>", pad_token="<pad>")


def texts(model, processor, generator, folder, out):
    """A picture of bytes to captions of words: of a prefix, greedily and with beams."""
    out["picture"] = picture(generator)
    image, lines, c = Image.fromarray(out["picture"].to(torch.uint8).numpy()), [], model.config
    bos, decode = c.text_config.bos_token_id, processor.tokenizer.decode
    for prefix in ("", "a photo of", "Question: what is it? Answer:"):
        inputs = processor(images=image, text=prefix, return_tensors="pt")
        out["processed"] = inputs.pixel_values[0]
        prompt = inputs.input_ids[0, c.num_query_tokens :].tolist()
        assert prompt[0] == bos
        for kw in (dict(), dict(num_beams=3, num_return_sequences=2)):
            grouped, _ = write(model, inputs.pixel_values, prompt[1:], max_new_tokens=9, **kw)
            if c.image_token_index is not None:  # as a user would
                with torch.inference_mode():
                    ids = model.generate(**inputs, do_sample=False, max_new_tokens=9, **kw)
                assert ids[0, c.num_query_tokens :].tolist()[: len(prompt) + len(grouped[0][0][0])] == prompt + grouped[0][0][0]
                assert processor.batch_decode(ids, skip_special_tokens=True)[0].strip() == decode(prompt + grouped[0][0][0], skip_special_tokens=True).strip()
            rows = [t for t, _ in grouped[0]]
            lines.append(dict(prefix=prefix, beams=kw.get("num_beams", 0), prompt=prompt, ids=rows, texts=[decode(prompt + t, skip_special_tokens=True).strip() for t in rows]))
    (folder / "texts.json").write_text("[\n" + ",\n".join(json.dumps(l) for l in lines) + "\n]\n")


def retrieval(model, processor, generator, folder):
    """Features in the space that pictures and texts share, and their likeness."""
    side = model.config.vision_config.image_size
    out = {"pixels": torch.randn(3, 3, side, side, generator=generator) * 2, "picture": picture(generator)}
    features(model, out["pixels"], out)
    lines = ["", "a red house by the sea", "two children on a horse ξ", " ".join(WORDS[7:60])]
    rows = []
    for line in lines:
        inputs = processor(images=Image.fromarray(out["picture"].to(torch.uint8).numpy()), text=line, return_tensors="pt", truncation=True, max_length=model.config.qformer_config.max_position_embeddings + model.config.num_query_tokens)
        out["processed"] = inputs.pixel_values[0]
        inputs["pixel_values"] = out["pixels"]
        n = len(out["pixels"])
        with torch.inference_mode():
            got = model(input_ids=inputs.input_ids.expand(n, -1), attention_mask=inputs.attention_mask.expand(n, -1), pixel_values=out["pixels"], return_dict=True)
        out["projected"] = got.image_embeds  # [B,K,C], of length 1
        out.setdefault("text", []).append(got.text_embeds[0])
        out.setdefault("likeness", []).append(got.logits_per_image[:, 0])
        rows.append(dict(text=line, ids=inputs.input_ids[0, model.config.num_query_tokens :].tolist()))
    out["text"], out["likeness"] = torch.stack(out["text"]), torch.stack(out["likeness"])  # [T,C], [T,B]
    (folder / "texts.json").write_text(json.dumps(rows, indent=1))
    save(out, folder)


def main(root):
    root = pathlib.Path(root)
    number = 0

    def start(name):
        nonlocal number
        number += 1
        folder = root / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        return folder, torch.Generator().manual_seed(SEED + number)

    # the layout of opt-2.7b, with tokenizer and processor; two tokens end a caption
    folder, g = start("opt")
    tokenizer = byte_tokens(WORDS)
    processor = Blip2Processor(BlipImageProcessor(size={"height": 28, "width": 28}), tokenizer, num_query_tokens=6)
    line = tokenizer("\n", add_special_tokens=False).input_ids[0]
    image = tokenizer.convert_tokens_to_ids("<image>")
    m = shake(Blip2ForConditionalGeneration(config([line, 2], image_token_index=image)), g)
    lift(m, g)
    m.save_pretrained(folder)
    processor.save_pretrained(folder)
    out = golden(m, g, folder, [[], [70, 14, 8], [20, 9]])
    texts(m, processor, g, folder, out)
    save(out, folder)

    # norms after each part and words of another width, as in opt-350m; a head of its own, in bfloat16 shards; every block looks
    folder, g = start("opt-350m")
    m = Blip2ForConditionalGeneration(config(line, text=dict(do_layer_norm_before=False, word_embed_proj_dim=16, tie_word_embeddings=False, activation_function="gelu", num_attention_heads=2),
                                             vision=dict(num_hidden_layers=1, qkv_bias=False, hidden_act="quick_gelu", num_attention_heads=2), qformer=dict(cross_attention_frequency=1, layer_norm_eps=1e-5), image_token_index=image))
    lift(shake(m, g), g)
    m = m.to(torch.bfloat16)
    m.save_pretrained(folder, max_shard_size="60KB")
    m = Blip2ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    processor.save_pretrained(folder)
    out = golden(m, g, folder, [[], [33, 34, 35, 36, 37]])
    texts(m, processor, g, folder, out)
    save(out, folder)

    # the hub's first BLIP-2 folders: no image token, the head stored beside the words, float16; a final norm that is left out
    folder, g = start("old-hub")
    m = Blip2ForConditionalGeneration(config(line, text=dict(_remove_final_layer_norm=True, num_hidden_layers=3), vision=dict(image_size=30), qformer=dict(num_hidden_layers=4, cross_attention_frequency=3)))
    lift(shake(m, g), g)
    m = m.to(torch.float16)
    m.save_pretrained(folder)
    tensors = load_file(folder / "model.safetensors")
    tensors["language_model.lm_head.weight"] = tensors["language_model.model.decoder.embed_tokens.weight"].clone()
    save_file(tensors, folder / "model.safetensors", metadata={"format": "pt"})
    c = json.loads((folder / "config.json").read_text())
    for key in ("image_token_index", "image_text_hidden_size"):
        c.pop(key, None)
    c["use_decoder_only_language_model"] = True
    c["vision_config"].update(num_channels=3, dropout=0.0, projection_dim=512)
    for key in ("activation_function", "do_layer_norm_before", "word_embed_proj_dim", "tie_word_embeddings"):
        c["text_config"].pop(key)
    (folder / "config.json").write_text(json.dumps(c, indent=2))
    m = Blip2ForConditionalGeneration.from_pretrained(folder, dtype=torch.float32).eval()
    byte_tokens(WORDS).save_pretrained(folder)
    processor.image_processor.size = {"height": 30, "width": 30}
    processor.image_processor.save_pretrained(folder)
    out = golden(m, g, folder, [[], [61, 62]])
    texts(m, processor, g, folder, out)
    save(out, folder)

    # pictures and texts in one space: no language model, a Q-Former that reads texts
    folder, g = start("retrieval")
    m = shake(Blip2ForImageTextRetrieval(config(2, qformer=dict(use_qformer_text_input=True, num_hidden_layers=3), image_token_index=98)), g)
    m.save_pretrained(folder)
    words = (WORDS + ["word%d" % i for i in range(99)])[:98]
    (folder / "vocab.txt").write_text("\n".join(words) + "\n")
    processor = Blip2Processor(BlipImageProcessor(size={"height": 28, "width": 28}), BertTokenizer(vocab=str(folder / "vocab.txt")), num_query_tokens=6)
    processor.save_pretrained(folder)
    retrieval(m, processor, g, folder)

    print(json.dumps({str(p.relative_to(root)): sum(f.stat().st_size for f in p.iterdir()) for p in sorted(root.iterdir()) if p.is_dir()}, indent=1))


if __name__ == "__main__":
    main(sys.argv[1])

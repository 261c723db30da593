"""The networks of the benchmark gpu in torch, on its GPU. Command `NETWORK PRECISION BATCH CALLS` runs one, CALLS times, on
the first images of its input.f32, which lie in memory that the GPU can copy itself.

A model is what transformers, timm or diffusers have for the folder, in evaluation mode, with their defaults for attention. Precision tf32 is float32 with
TF32 in products and convolutions; float32 turns both off. All results come to the host, the array is that of the first item.
"""

import functools
import json
import sys
import time

import numpy as np
import torch
import transformers

from peer import folder

transformers.utils.logging.set_verbosity_error()
DEVICE = "cuda" if torch.cuda.is_available() else "cpu"
DTYPES = {"float32": torch.float32, "tf32": torch.float32, "bfloat16": torch.bfloat16, "float16": torch.float16}


def texts(name, count):
    return torch.tensor(json.loads((folder / f"{name}.json").read_text())[:count], device=DEVICE)


def of(model, dtype):
    return model.eval().to(DEVICE, dtype)


def load(cls, name, dtype):
    return of(cls.from_pretrained(folder / name), dtype)


def vit(dtype):
    import timm
    from safetensors.torch import load_file

    model = timm.create_model("vit_base_patch16_224", pretrained=False, num_classes=0)
    model.load_state_dict(load_file(folder / "vit" / "model.safetensors"))
    of(model, dtype)
    side = torch.zeros(14, 14, dtype=torch.bool)
    side[3:11, 3:11] = True
    inside = side.flatten()
    one = torch.ones(1, dtype=torch.bool)
    masks = [torch.cat([one, keep])[None, None, None].expand(-1, -1, 197, -1).to(DEVICE) for keep in (inside, ~inside)]

    def run(x):
        x = model.norm_pre(model._pos_embed(model.patch_embed(x)))
        out = []
        for mask in (None, *masks):
            y = x
            for block in model.blocks:
                y = block(y, attn_mask=mask)
            out.append(model.norm(y)[:, 0])
        return torch.cat(out, 1)

    return run


def dinov2(dtype):
    model = load(transformers.Dinov2Model, "dinov2", dtype)
    return lambda x: model(x).pooler_output


def clip(dtype):
    model = load(transformers.CLIPModel, "clip", dtype)
    return lambda x: getattr(out := model.get_image_features(x), "pooler_output", out)


def clip_text(dtype):
    model = load(transformers.CLIPModel, "clip", dtype)

    return lambda count: getattr(out := model.get_text_features(texts("clip-text", count)), "pooler_output", out)


def siglip(dtype):
    model = load(transformers.SiglipModel, "siglip", dtype)
    return lambda x: getattr(out := model.get_image_features(x), "pooler_output", out)


def siglip_text(dtype):
    model = load(transformers.SiglipModel, "siglip", dtype)
    return lambda count: getattr(out := model.get_text_features(texts("siglip-text", count)), "pooler_output", out)


def mpnet(dtype):
    model = load(transformers.MPNetModel, "mpnet", dtype)
    return lambda count: torch.nn.functional.normalize(model(texts("mpnet", count)).last_hidden_state.mean(1), dim=-1)


def clipseg(dtype):
    model = load(transformers.CLIPSegForImageSegmentation, "clipseg", dtype)
    prompt = model.clip.get_text_features(torch.tensor([[49406, 320, 2368, 49407]], device=DEVICE))
    prompt = getattr(prompt, "pooler_output", prompt)
    return lambda x: model(pixel_values=x, conditional_embeddings=prompt.expand(len(x), -1)).logits.reshape(len(x), -1)


def groundingdino(dtype):
    model = load(transformers.GroundingDinoForObjectDetection, "groundingdino", dtype)
    ids = torch.tensor([[101, 200, 201, 1012, 202, 203, 204, 1012, 102]], device=DEVICE)

    def run(x):
        cx, cy, w, h = model(pixel_values=x, input_ids=ids).pred_boxes[0].float().unbind(-1)
        return torch.stack([(cx - w / 2) * 1066, (cy + h / 2) * 800], -1).flatten()[None]

    return run


def owlv2(dtype):
    model = load(transformers.Owlv2ForObjectDetection, "owlv2", dtype)
    ids = torch.zeros(1, 16, dtype=torch.long, device=DEVICE)
    ids[0, :3] = torch.tensor([523, 70, 524])
    text = model.owlv2.text_projection(model.owlv2.text_model(input_ids=ids, attention_mask=(ids > 0).long()).pooler_output)[None]
    text = text / text.norm(dim=-1, keepdim=True)

    def run(x):
        features = model.image_embedder(x)[0]
        flat = features.flatten(1, 2)
        logits = model.class_predictor(flat, text, torch.ones(1, 1, dtype=torch.bool, device=DEVICE))[0]
        model.box_predictor(flat, features).float().cpu()
        return logits.sigmoid().max(-1)[0].flatten().sort(descending=True)[0][None]

    return run


def boxes():
    return torch.tensor([[[40.0 * i, 60 * i, 300 + 80 * i, 400 + 70 * i] for i in range(8)]], device=DEVICE)


def sam(dtype):
    model = load(transformers.SamModel, "sam", dtype)
    return lambda x: model(pixel_values=x, input_boxes=boxes().to(x.dtype), multimask_output=False).pred_masks[0, :, 0].flatten(1)


def sam2(dtype):
    model = load(transformers.Sam2Model, "sam2", dtype)
    return lambda x: model(pixel_values=x, input_boxes=boxes().to(x.dtype), multimask_output=False).pred_masks[0, :, 0].flatten(1)


def blip(dtype):
    model = load(transformers.BlipForConditionalGeneration, "blip", dtype)

    def run(x):
        out = model.generate(pixel_values=x, do_sample=False, max_new_tokens=20, min_new_tokens=20, return_dict_in_generate=True, output_logits=True)
        return out.logits[0]

    return run


def sd15(dtype):
    import diffusers

    pipe = diffusers.StableDiffusionPipeline.from_pretrained(folder / "sd15", torch_dtype=dtype, safety_checker=None).to(DEVICE)
    pipe.set_progress_bar_config(disable=True)

    def run(count):
        generators = [torch.Generator().manual_seed(i) for i in range(count)]
        images = pipe(["a small house by the sea"] * count, negative_prompt=["blurry"] * count, height=512, width=512, num_inference_steps=10,
                      guidance_scale=7.5, generator=generators, output_type="np").images
        return torch.from_numpy((images[:1] * 255).round().reshape(1, -1))

    return run


def inception(dtype):
    import torchvision

    return of(torchvision.models.inception_v3(weights=None, init_weights=False, transform_input=False), dtype)


SIDES = dict(vit=(224, 224), dinov2=(224, 224), clip=(224, 224), siglip=(224, 224), clipseg=(352, 352), groundingdino=(800, 1066), owlv2=(960, 960),
             sam=(1024, 1024), sam2=(1024, 1024), blip=(384, 384), inception=(299, 299))
opened = functools.cache(lambda name, dtype: globals()[name.replace("-", "_")](dtype))


@torch.inference_mode()
def run(name, precision, batch, calls):
    dtype, tf32 = DTYPES[precision], precision == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = torch.backends.cudnn.allow_tf32 = tf32
    x = int(batch)
    if name in SIDES:
        shape = (x, 3, *SIDES[name])
        x = torch.from_numpy(np.fromfile(folder / name / "input.f32", np.float32, int(np.prod(shape))).reshape(shape))
        x = x.pin_memory() if DEVICE == "cuda" else x
    network = opened(name, dtype)
    begin = time.perf_counter()
    for _ in range(int(calls)):
        out = network(x.to(DEVICE, non_blocking=True).to(dtype) if name in SIDES else x)
    out = out.float().cpu()  # waits for the GPU
    return [time.perf_counter() - begin], out[0].numpy()


def answer(line):
    try:
        seconds, result = run(*line.split())
    except Exception as e:  # the message goes into the table
        torch.cuda.empty_cache()
        return {"error": f"{type(e).__name__}: {e}"[:300]}
    result.astype("float32").tofile(folder / "peer.f32")
    return {"seconds": seconds}


print(json.dumps({"name": f"torch {torch.__version__}, transformers {transformers.__version__}"}), flush=True)
for line in sys.stdin:
    print(json.dumps(answer(line)), flush=True)

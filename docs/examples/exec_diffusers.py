#!/usr/bin/env python3
"""Any text-to-image pipeline of diffusers as a model (SDXL, SD 3.5, FLUX, Qwen-Image, Sana, Kandinsky …):
    antipode generate --model exec:./exec_diffusers.py --exec-arg MODEL --prompts prompts.csv --out images.parquet
MODEL is a pipeline's folder, or the name of a repository that was downloaded. Options: --revision, --batch, --dtype."""
import argparse, hashlib, inspect, itertools, json, os, queue, sys, threading
out, _ = os.fdopen(os.dup(1), "w"), os.dup2(2, 1)  # prints of libraries go to standard error, not into the protocol
import diffusers, torch; Pipeline = diffusers.DiffusionPipeline
def default(name): return getattr(takes.get(name), "default", None)
def say(type, **fields): print(json.dumps({"type": type, **fields}), file=out, flush=True)
def listen():  # on a thread of its own, so that cancel takes effect during a batch
    for message in map(json.loads, sys.stdin):
        (canceled.set if message["type"] == "cancel" else canceled.clear)()
        if message["type"] != "cancel": inbox.put(message)
    inbox.put({"type": "bye"})  # the parent has ended
def ready():  # from the files alone; one in the hub's cache is a link to a blob that is named by its hash
    files, digest = sorted(os.path.join(d, f) for d, _, names in os.walk(folder) for f in names), hashlib.sha256()
    for f in files:
        blob = os.path.realpath(f) if os.path.islink(f) else hashlib.file_digest(open(f, "rb"), "sha256").hexdigest()
        digest.update(f"{os.path.relpath(f, folder)} {os.path.getsize(f)} {os.path.basename(blob)}\n".encode())
    watched = [{"path": f, "size": os.path.getsize(f)} for f in files + [diffusers.__file__, torch.version.__file__]]
    say("ready", protocol=1, name="diffusers", version=f"1, diffusers {diffusers.__version__}, torch {torch.__version__}",
        model={"id": args.model, "revision": args.revision, "digest": digest.hexdigest(), "files": watched},
        capabilities={"seed": "exact" if device == "cpu" else "best_effort", "negative": negative, "guidance": guidance in takes,
                      "steps": True, "scheduler": False, "cancel": True, "sizes": {"multiple": 16, "min": 16, "max": 4096}},
        max_batch=args.batch, device_kind=device, dtype=args.dtype, tasks=["generate"],
        defaults={"steps": default("num_inference_steps"), "guidance": default(guidance)})
def generate(batch, group):  # one generator per image, on the CPU: the batch does not change an image's noise
    def step(pipe, i, t, tensors):
        if canceled.is_set(): raise InterruptedError("canceled")
        return say("progress", batch=batch, step=i + 1, of=getattr(pipe, "num_timesteps", 0)) or tensors
    options = {name: group[0].get(field) for name, field in fields.items()} | {"callback_on_step_end": step,
               "negative_prompt": [i["negative"] for i in group] if group[0].get("negative") else None}
    made = pipe([i.get("prompt", "") for i in group], generator=[torch.Generator("cpu").manual_seed(i["seed"]) for i in group],
                **{name: value for name, value in options.items() if value is not None and name in takes})
    for item, image, unsafe in zip(group, made.images, getattr(made, "nsfw_content_detected", None) or [False] * len(group)):
        image.save(item["out"])
        yield {"outcome": "refused", "reason": "the safety checker blocked it"} if unsafe else {"outcome": "ok", "file": item["out"]}
def answer(batch, group):
    try: answers = list(generate(batch, group))
    except Exception as e:
        if isinstance(e, torch.OutOfMemoryError) and len(group) > 1: return [answer(batch, [item]) for item in group]
        transient = isinstance(e, (torch.OutOfMemoryError, InterruptedError))
        answers = [{"outcome": "failed", "reason": f"{type(e).__name__}: {e}", "transient": transient}] * len(group)
    for item, own in zip(group, answers): say("item", batch=batch, id=item["id"], **own)
device = "cuda" if torch.cuda.is_available() else "mps" if torch.backends.mps.is_available() else "cpu"
parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for flag, value in [("model", None), ("--revision", "main"), ("--batch", 4), ("--dtype", "bfloat16" if device == "cuda" else "float32")]:
    parser.add_argument(flag, default=value, type=type(value or ""))
args = parser.parse_args()
folder = args.model if os.path.isdir(args.model) else Pipeline.download(args.model, revision=args.revision, local_files_only=True)
takes = inspect.signature(getattr(diffusers, Pipeline.load_config(folder)["_class_name"]).__call__).parameters
guidance = "true_cfg_scale" if default("guidance_scale") is None and "true_cfg_scale" in takes else "guidance_scale"  # Qwen-Image
negative = "negative_prompt" in takes and not (guidance == "guidance_scale" and "true_cfg_scale" in takes)  # FLUX ignores it
fields = {"num_inference_steps": "steps", guidance: "guidance", "width": "width", "height": "height"}
canceled, inbox, pipe = threading.Event(), queue.Queue(), None
threading.Thread(target=listen, daemon=True).start(), inbox.get(), ready()  # after hello
for message in iter(inbox.get, {"type": "bye"}):
    pipe = pipe or Pipeline.from_pretrained(folder, torch_dtype=getattr(torch, args.dtype)).to(device)
    alike = lambda item: ([item.get(f, 0) for f in fields.values()], bool(item.get("negative")))
    for _, group in itertools.groupby(sorted(message["items"], key=alike), alike): answer(message["batch"], list(group))

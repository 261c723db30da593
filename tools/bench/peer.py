"""What the peers of the benchmarks share: their arguments, and the loop that answers commands. See peer.go."""

import json
import pathlib
import sys
import time

begin = time.perf_counter()
folder, threads, seed = pathlib.Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])
arguments = sys.argv[4:]


def resident(field):
    """A size of this process in MiB: VmRSS now, VmHWM at its peak."""
    with open("/proc/self/status") as file:
        return next(int(line.split()[1]) for line in file if line.startswith(field)) / 1024


def peaked(compute):
    """The result of a function, its seconds, and the peak memory in MiB above what the process had before."""
    before = resident("VmRSS")
    with open("/proc/self/clear_refs", "w") as file:
        file.write("5")
    start = time.perf_counter()
    result = compute()
    return result, time.perf_counter() - start, resident("VmHWM") - before


def exported(mode, module, example):
    """A torch module as a function on tensors of the shapes of an example, computed by openvino, openvino-bfloat16 or onnxruntime."""
    import torch

    module = module.eval()
    if mode == "onnxruntime":
        import onnxruntime

        path, names = str(folder / f"{id(module)}.onnx"), [f"x{i}" for i in range(len(example))]
        torch.onnx.export(module, example, path, dynamo=False, input_names=names, output_names=["y"])
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        session = onnxruntime.InferenceSession(path, options, providers=["CPUExecutionProvider"])
        return lambda *x: torch.from_numpy(session.run(None, dict(zip(names, (v.numpy() for v in x))))[0])
    if not mode.startswith("openvino"):
        raise SystemExit(f"peer {mode!r}: use openvino, openvino-bfloat16 or onnxruntime")
    import openvino

    graph = openvino.convert_model(module, example_input=example, input=[tuple(x.shape) for x in example])
    precision = "bf16" if mode == "openvino-bfloat16" else "f32"
    compiled = openvino.Core().compile_model(
        graph, "CPU", {"INFERENCE_PRECISION_HINT": precision, "INFERENCE_NUM_THREADS": threads, "PERFORMANCE_HINT": "LATENCY"})
    return lambda *x: torch.from_numpy(compiled([v.numpy() for v in x])[0].copy())


def serve(name, run):
    """Prints when it is ready, then runs a command for each line of the standard input and prints the seconds.

    run(*words) returns an array, which is saved as float32 for the comparison, or a dictionary that is added to the reply: "seconds" for the parts of
    the work, "array" for an array.
    """
    print(json.dumps({"name": name, "seconds": [time.perf_counter() - begin]}), flush=True)
    for line in sys.stdin:
        start = time.perf_counter()
        result = run(*line.split())
        reply = {"seconds": [time.perf_counter() - start]}
        array = result.pop("array", None) if isinstance(result, dict) else result
        if isinstance(result, dict):
            reply.update(result)
        if array is not None:
            (array if hasattr(array, "tofile") else array.numpy()).astype("float32").tofile(folder / "peer.f32")
        print(json.dumps(reply), flush=True)

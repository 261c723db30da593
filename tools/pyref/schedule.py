#!/usr/bin/env python3
"""Goldens for gomlxmodels/diffusion/schedule: whole runs of diffusers' schedulers with a fake model.

    python tools/pyref/schedule.py gomlxmodels/diffusion/schedule/testdata

Versions: diffusers 0.42.1, torch 2.15.0, numpy 2.4.6, scipy 1.17.1. Seed 5; the noise of each run is that of torch.Generator
seeded with the number of steps.

configs.json: the fake model (a matrix and a vector) and for each case its scheduler_config.json, extras (eta), the sampler it is
opened as ("" = the file's own), and for each run the number of steps asked for and of calls. runs.f32, little-endian float32: for
each run in order the scale of the first sample, the timesteps, and the sample after each call (4 numbers). PNDM with
squaredcos_cap_v2 is computed in float64.
"""

import itertools
import json
import pathlib
import sys
import warnings

import diffusers
import numpy as np
import torch

SEED = 5
STEPS = (10, 20, 50)
SPACINGS = ("leading", "trailing", "linspace")
BETAS = ("linear", "scaled_linear", "squaredcos_cap_v2")
STABLE = {"beta_start": 0.00085, "beta_end": 0.012, "beta_schedule": "scaled_linear", "steps_offset": 1}


def cases():
    """(class, settings, eta, sampler to open it as)"""
    grid = lambda predictions, betas=BETAS: [
        {**STABLE, "timestep_spacing": s, "beta_schedule": b, "prediction_type": p} for s, b, p in itertools.product(SPACINGS, betas, predictions)
    ]
    three, two = ("epsilon", "sample", "v_prediction"), ("epsilon", "v_prediction")
    zero = lambda **more: [{**STABLE, "rescale_betas_zero_snr": True, "timestep_spacing": s, "prediction_type": "v_prediction", **more} for s in SPACINGS]
    trained = {"num_train_timesteps": 200, "trained_betas": [round(0.001 + 0.0001 * i, 6) for i in range(200)]}

    ddim = [{**g, "clip_sample": False} for g in grid(three)]
    ddim += [{**STABLE, "clip_sample": True, "prediction_type": p} for p in three]
    ddim += [{**STABLE, "clip_sample": True, "clip_sample_range": 0.4}, {**STABLE, "set_alpha_to_one": False, "clip_sample": False}, {}, trained]
    ddim += zero(clip_sample=False)
    for settings in ddim:
        yield "DDIMScheduler", settings, 0, ""
    for eta in (0.3, 1):
        yield "DDIMScheduler", {**STABLE, "clip_sample": False}, eta, ""
        yield "DDIMScheduler", {**STABLE, "clip_sample": True, "prediction_type": "v_prediction"}, eta, ""

    for skip in (True, False):
        for settings in grid(two) + [{"set_alpha_to_one": True}, {**STABLE, "set_alpha_to_one": True}, trained]:
            yield "PNDMScheduler", {**settings, "skip_prk_steps": skip}, 0, ""

    euler = grid(three) + [{}, trained] + zero() + zero(prediction_type="epsilon")
    for s in SPACINGS:
        euler += [{**STABLE, "timestep_spacing": s, key: True} for key in ("use_karras_sigmas", "use_exponential_sigmas", "use_beta_sigmas")]
        euler += [{**STABLE, "timestep_spacing": s, "interpolation_type": "log_linear"}, {**STABLE, "timestep_spacing": s, "final_sigmas_type": "sigma_min"}]
    euler += [
        {**STABLE, "use_karras_sigmas": True, "sigma_min": 0.1, "sigma_max": 12.0},
        {**STABLE, "timestep_type": "continuous", "prediction_type": "v_prediction"},
        {**STABLE, "timestep_type": "continuous", "prediction_type": "v_prediction", "use_karras_sigmas": True, "sigma_min": 0.002, "sigma_max": 80.0},
    ]
    for settings in euler:
        yield "EulerDiscreteScheduler", settings, 0, ""
    for settings in grid(two) + [{}, trained] + zero():
        yield "EulerAncestralDiscreteScheduler", settings, 0, ""

    dpm = [{**g, "solver_order": o} for g in grid(three, ("scaled_linear",)) for o in (1, 2, 3)]
    dpm += grid(("epsilon",), ("linear", "squaredcos_cap_v2"))
    for kind in ("dpmsolver++", "sde-dpmsolver++"):
        for o in (2, 3):
            dpm += [{**STABLE, "algorithm_type": kind, "solver_order": o, "solver_type": t, "prediction_type": p} for t in ("midpoint", "heun") for p in two]
        dpm += [{**STABLE, "algorithm_type": kind, "solver_order": 1}]
    for o in (2, 3):
        for s in SPACINGS:
            dpm += [{**STABLE, "solver_order": o, "timestep_spacing": s, key: True} for key in ("use_karras_sigmas", "use_exponential_sigmas", "use_beta_sigmas", "use_lu_lambdas")]
        dpm += [
            {**STABLE, "solver_order": o, "lower_order_final": False},
            {**STABLE, "solver_order": o, "euler_at_final": True, "final_sigmas_type": "sigma_min"},
            {**STABLE, "solver_order": o, "lower_order_final": False, "final_sigmas_type": "sigma_min"},
            {"solver_order": o, "beta_schedule": "squaredcos_cap_v2", "lambda_min_clipped": -5.1},
            {"solver_order": o, "beta_schedule": "squaredcos_cap_v2", "lambda_min_clipped": -5.1, "timestep_spacing": "trailing"},
            {"solver_order": o, "beta_schedule": "squaredcos_cap_v2", "use_karras_sigmas": True},
        ]
    dpm += zero() + zero(prediction_type="epsilon") + [{}, trained]
    for settings in dpm:
        yield "DPMSolverMultistepScheduler", settings, 0, ""

    yield "PNDMScheduler", {**STABLE, "skip_prk_steps": True, "set_alpha_to_one": False}, 0, "DDIMScheduler"
    yield "DDIMScheduler", {**STABLE, "clip_sample": True, "timestep_spacing": "trailing"}, 0, "EulerDiscreteScheduler"
    yield "EulerDiscreteScheduler", {**STABLE, "use_karras_sigmas": True}, 0, "DPMSolverMultistepScheduler"


def run(scheduler, model, steps, eta):
    generator = torch.Generator().manual_seed(steps)
    x = torch.randn((1, 1, 2, 2), generator=generator)
    scheduler.set_timesteps(steps)
    if hasattr(scheduler, "set_begin_index"):
        scheduler.set_begin_index(0)  # else runs whose first two timesteps are equal begin with the second
    start = float(scheduler.init_noise_sigma)
    x = x * scheduler.init_noise_sigma
    if isinstance(scheduler, diffusers.PNDMScheduler) and scheduler.config.beta_schedule == "squaredcos_cap_v2":
        # The first step divides by 0.00005: float32 leaves differences of numbers of 10000.
        scheduler.alphas_cumprod, scheduler.final_alpha_cumprod, x = scheduler.alphas_cumprod.double(), scheduler.final_alpha_cumprod.double(), x.double()
    extra = {"generator": generator} if not isinstance(scheduler, diffusers.PNDMScheduler) else {}
    if eta:
        extra["eta"] = eta
    out = [start] + [float(t) for t in scheduler.timesteps]
    for t in scheduler.timesteps:
        x = scheduler.step(model(scheduler.scale_model_input(x, t), t), t, x, **extra).prev_sample
        out += x.flatten().tolist()
    return len(scheduler.timesteps), out


def main(folder):
    warnings.filterwarnings("ignore")
    diffusers.logging.set_verbosity_error()
    root = pathlib.Path(folder)
    root.mkdir(parents=True, exist_ok=True)
    g = torch.Generator().manual_seed(SEED)
    matrix = torch.randn(4, 4, generator=g) / 4 + torch.eye(4) / 2
    offset = torch.randn(4, generator=g) / 2
    model = lambda x, t: (matrix.to(x.dtype) @ x.flatten() + offset.to(x.dtype) * (float(t) / 1000)).reshape(x.shape)
    index, data = [], []
    for name, settings, eta, opened in cases():
        original = getattr(diffusers, name)(**settings)
        text = original.to_json_string() if not settings else json.dumps({"_class_name": name, **settings})
        case = {"config": text, "eta": eta, "as": opened, "steps": STEPS, "calls": []}
        for steps in STEPS:
            scheduler = getattr(diffusers, opened or name).from_config(json.loads(text))
            calls, numbers = run(scheduler, model, steps, eta)
            case["calls"].append(calls)
            data += numbers
        index.append(case)
    numbers = np.array(data, "<f4")
    print(len(index), "cases", numbers.nbytes, "bytes", "finite" if np.isfinite(numbers).all() else "NOT FINITE", np.abs(numbers).max())
    (root / "runs.f32").write_bytes(numbers.tobytes())
    lines = ",\n".join(json.dumps(c) for c in index)
    head = json.dumps({"matrix": matrix.flatten().tolist(), "offset": offset.tolist()})[:-1]
    (root / "configs.json").write_text(head + ', "cases": [\n' + lines + "\n]}\n")


if __name__ == "__main__":
    main(sys.argv[1])

"""Which runs are made, in which order, and what is computed from them."""
import os
import platform
import statistics
import sys
import time

from bench.settings import (LAST_STEPS, LOSS_GBIT, LOSS_STEPS, SHORT_STEPS,
                            steps_at)


def note(text):
    print(time.strftime("%H:%M:%S ") + text, file=sys.stderr, flush=True)


def contenders(pair, settings):
    """{name: function(codec, steps)}; ours first."""
    sides = {"ours": pair.ours}
    for bucket in settings.buckets:
        sides[f"ddp {bucket:g}"] = (
            lambda codec, steps, cap=bucket: pair.ddp(codec, steps, cap))
    return sides


def per_step(key, runs, short):
    """What start and end of a run use cancels out."""
    return statistics.median(
        (run[key] - short[key]) / (run["steps"] - short["steps"])
        for run in runs)


def summary(runs, short):
    medians = [run["step_ms"] for run in runs]
    result = {"step_ms": statistics.median(medians), "least_ms": min(medians),
              "most_ms": max(medians), "runs": runs, "short_run": short,
              "step_bytes": per_step("sent_bytes", runs, short),
              "step_cpu_ms": per_step("cpu_ms", runs, short)}
    if "phases" in runs[0]:
        result["phases"] = {
            name: statistics.median(run["phases"][name] for run in runs)
            for name in runs[0]["phases"]}
    if "counted_step_bytes" in runs[0]:
        result["counted_step_bytes"] = statistics.median(
            run["counted_step_bytes"] for run in runs)
    return result


def one_cell(sides, gbit, codec, settings):
    """All sides in turn, `repeats` times, at one rate with one codec."""
    steps = steps_at(gbit, settings)
    short = {name: side(codec, SHORT_STEPS) for name, side in sides.items()}
    runs = {name: [] for name in sides}
    for _ in range(settings.repeats):
        for name, side in sides.items():
            runs[name].append(side(codec, steps))
            note(f"{gbit:g} Gbit/s {codec} {name}: "
                 f"{runs[name][-1]['step_ms']:.1f} ms per step")
    sums = {name: summary(runs[name], short[name]) for name in sides}
    best = min((name for name in sides if name != "ours"),
               key=lambda name: sums[name]["step_ms"])
    return {"gbit": gbit, "codec": codec, "steps": steps, "sides": sums,
            "best_ddp": best,
            "ratio": sums[best]["step_ms"] / sums["ours"]["step_ms"]}


def end_of(losses):
    return {"last_mean": statistics.mean(losses[-LAST_STEPS:]),
            "final": losses[-1], "first": losses[0], "losses": losses}


def one_loss(pair, codec, settings):
    ours = pair.ours(codec, LOSS_STEPS)
    ddp = pair.ddp(codec, LOSS_STEPS, settings.buckets[0])
    ends = {"ours": end_of(ours["losses"]), "ddp": end_of(ddp["losses"])}
    return {"codec": codec, "steps": LOSS_STEPS, **ends,
            **{f"{key}_difference": abs(ends["ours"][key] / ends["ddp"][key]
                                        - 1) for key in ("last_mean", "final")}}


def everything(pair, settings):
    sides = contenders(pair, settings)
    began, load_before = time.time(), os.getloadavg()
    cells, losses = [], []
    for gbit in settings.rates:
        pair.shape(gbit)
        for codec in settings.codecs:
            cells.append(one_cell(sides, gbit, codec, settings))
    if not settings.skip_losses:
        pair.shape(LOSS_GBIT)
        for codec in settings.codecs:
            note(f"losses of {LOSS_STEPS} steps, {codec}")
            losses.append(one_loss(pair, codec, settings))
    return {"cells": cells, "losses": losses, "repeats": settings.repeats,
            "buckets": settings.buckets, "cores": os.cpu_count(),
            "kernel": platform.release(), "seconds": time.time() - began,
            "load_before": load_before}

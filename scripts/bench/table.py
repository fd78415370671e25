"""The result as text and as JSON."""
import json

from bench.settings import (BATCH_PER_PC, LAST_STEPS, SHORT_STEPS,
                            WARMUP_STEPS)

HEAD = ("Gbit/s", "codec", "egpu-train ms", "DDP ms", "DDP/ours",
        "MB ours", "MB DDP", "CPU ms ours", "CPU ms DDP", "bucket")


def spread(side):
    return (f"{side['step_ms']:.1f} "
            f"[{side['least_ms']:.1f}-{side['most_ms']:.1f}]")


def row(cell):
    ours, ddp = cell["sides"]["ours"], cell["sides"][cell["best_ddp"]]
    return (f"{cell['gbit']:g}", cell["codec"], spread(ours), spread(ddp),
            f"{cell['ratio']:.3f}", f"{ours['step_bytes'] / 1e6:.2f}",
            f"{ddp['step_bytes'] / 1e6:.2f}",
            f"{ours['step_cpu_ms']:.0f}", f"{ddp['step_cpu_ms']:.0f}",
            cell["best_ddp"].removeprefix("ddp ") + " MiB")


def phases_line(cell):
    parts = [f"{name.removesuffix('_ms')} {value:.1f}"
             for name, value in cell["sides"]["ours"]["phases"].items()]
    return (f"egpu-train, {cell['gbit']:g} Gbit/s, {cell['codec']}, ms: "
            + ", ".join(parts))


def aligned(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    return ["  ".join(text.rjust(width) for text, width in zip(line, widths))
            for line in rows]


def loss_line(loss):
    ours, ddp = loss["ours"], loss["ddp"]
    return (f"loss, {loss['codec']}, {loss['steps']} steps from "
            f"{ours['first']:.4f}: last {LAST_STEPS} steps "
            f"{ours['last_mean']:.4f} / {ddp['last_mean']:.4f} "
            f"({loss['last_mean_difference']:.2%} apart), final "
            f"{ours['final']:.4f} / {ddp['final']:.4f} "
            f"({loss['final_difference']:.2%})")


def text(result):
    lines = aligned([HEAD, *map(row, result["cells"])]) + [""]
    lines += list(map(phases_line, result["cells"])) + [""]
    lines += list(map(loss_line, result["losses"]))
    steps = sorted({cell["steps"] for cell in result["cells"]})
    lines += [
        f"Two virtual PCs on {result['cores']} cores, Linux "
        f"{result['kernel']}, load before: {result['load_before'][0]:.2f}; "
        f"{result['seconds']:.0f} s in all.",
        f"MLP of 6.3 M parameters, batch {BATCH_PER_PC} per PC, one thread "
        f"per rank. ms: median over {result['repeats']} runs of the median "
        "step [least-most run],",
        f"runs in turn, {', '.join(map(str, steps))} steps, the first "
        f"{WARMUP_STEPS} left out. MB: sent per PC and step by its interface, "
        "counted around a whole run,",
        f"less a run of {SHORT_STEPS} steps. CPU: of the whole machine per "
        "step, counted like MB. bucket: DDP's."]
    return "\n".join(lines)


def write_json(path, result):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(result, file, indent=1)
        file.write("\n")

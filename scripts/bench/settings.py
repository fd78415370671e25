"""Command line of bench_ddp, and how long its runs are."""
import argparse
import os

SOURCE = os.path.dirname(
    os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BATCH_PER_PC = 32
HIDDEN_UNITS, HIDDEN_LAYERS, IMAGE_SIZE = 1024, 6, 32  # 6 307 850 parameters
# At 0.02 this net amplifies fp16's rounding: single losses after 200 steps then
# differ by percents (the mean of 20 by 0.2 %), between any two fp16 reductions.
LEARNING_RATE, MOMENTUM = 0.01, 0.9
WARMUP_STEPS = 3  # left out of the times
SHORT_STEPS = 3  # the run whose bytes are subtracted
LOSS_STEPS, LOSS_GBIT = 200, 10.0
QUICK_STEPS = 6
LAST_STEPS = 20  # of the loss run, for the mean
CODECS = ("none", "fp16")

# Rate in Gbit/s up to which so many steps are taken: 4 to 20 s per run.
STEPS = ((0.15, 9), (0.5, 20), (2, 36), (float("inf"), 90))


def steps_at(gbit, settings):
    if settings.steps:
        return settings.steps
    return next(steps for limit, steps in STEPS if gbit <= limit)


def listed(convert):
    def parse(text):
        return [convert(part) for part in text.split(",")]
    parse.__name__ = "comma-separated list"
    return parse


def rate(text):
    value = float(text)
    if not 0.001 <= value <= 100:
        raise ValueError
    return value


def codec(text):
    if text not in CODECS:
        raise ValueError
    return text


def bucket(text):
    value = float(text)
    if not 0 < value <= 1024:
        raise ValueError
    return value


def count(least):
    def parse(text):
        value = int(text)
        if value < least:
            raise ValueError
        return value
    parse.__name__ = f"number, at least {least},"
    return parse


def parser():
    result = argparse.ArgumentParser(
        prog="bench_ddp", description="Times egpu-train against torch DDP "
        "with Gloo on a virtual office of two PCs.")
    add = result.add_argument
    add("--rates", type=listed(rate), default=[0.1, 1.0, 10.0],
        help="Gbit/s, default 0.1,1,10")
    add("--codecs", type=listed(codec), default=list(CODECS),
        help="none (fp32), fp16; default both")
    add("--buckets", type=listed(bucket), default=[25.0],
        help="DDP's bucket_cap_mb; the fastest counts; default 25")
    add("--steps", type=count(SHORT_STEPS + 1),
        help="of each run; default: fitted to the rate")
    add("--repeats", type=count(1), default=3, help="default 3")
    add("--skip-losses", action="store_true",
        help=f"no comparison of losses after {LOSS_STEPS} steps")
    add("--bin", default=os.path.join(SOURCE, "build", "release", "bin"),
        help="folder of the programs")
    add("--python", help="a Python with torch; default .deps/venv/bin/python",
        default=os.path.join(SOURCE, ".deps", "venv", "bin", "python"))
    add("--json", metavar="FILE", help="write all numbers there too")
    add("--quick", action="store_true", help="few steps: does it run at all?")
    return result


def read_arguments(arguments):
    syntax = parser()
    settings = syntax.parse_args(arguments)
    settings.bin = os.path.abspath(settings.bin)
    settings.python = os.path.abspath(settings.python)
    folder = os.path.dirname(os.path.abspath(settings.json or "."))
    if not os.access(folder, os.W_OK):
        syntax.error(f"--json: cannot write into {folder}")
    if settings.quick:
        settings.steps = settings.steps or QUICK_STEPS
        settings.repeats = 1
        settings.skip_losses = True
    return settings

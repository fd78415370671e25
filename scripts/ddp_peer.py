"""Trains with torch's DistributedDataParallel and Gloo what egpu-train trains.

The other side of scripts/bench_ddp: same model, first weights, order of
samples, batches and optimizer, so that only the exchange of gradients differs.

    egpu-train --export-start START JOB.toml     first weights, order of samples
    python scripts/ddp_peer.py CONFIG.json       once per rank

RANK, WORLD_SIZE, MASTER_ADDR and MASTER_PORT come from the environment, as
egpu-rank or torchrun set them. CONFIG.json is one object; SETTINGS in ddp_inputs.py
lists its keys. Rank 0 writes config["output"].

What is timed: choosing the batch, forward, backward with all-reduce, and the
optimizer, as in egpu-train's step_ms. Losses are gathered after the last step,
so unlike in egpu-train they cost the steps nothing.
"""

import datetime
import fcntl
import json
import os
import socket
import struct
import sys
import time

import numpy
import torch
import torch.distributed
from torch.distributed.algorithms.ddp_comm_hooks import default_hooks

from ddp_inputs import (Images, PeerError, read_config, read_order,
                        read_safetensors, row_named)

HOOKS = {"none": None, "fp16": default_hooks.fp16_compress_hook}


# ---- models, with the parameter names of runtime/models


class Mlp(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        inputs = config["image_size"] ** 2
        self.depth = config["hidden_layers"]
        for i in range(1, self.depth + 1):
            setattr(self, f"hidden{i}",
                    torch.nn.Linear(inputs, config["hidden_units"]))
            inputs = config["hidden_units"]
        self.output = torch.nn.Linear(inputs, 10)

    def forward(self, images):
        x = images.flatten(1)
        for i in range(1, self.depth + 1):
            x = torch.relu(getattr(self, f"hidden{i}")(x))
        return self.output(x)


class Cnn(torch.nn.Module):
    def __init__(self, config):
        super().__init__()
        pooled = config["image_size"] // 4
        self.convolution1 = torch.nn.Conv2d(1, 16, 3, padding=1)
        self.convolution2 = torch.nn.Conv2d(16, 32, 3, padding=1)
        self.hidden = torch.nn.Linear(32 * pooled * pooled, 128)
        self.output = torch.nn.Linear(128, 10)

    def forward(self, images):
        pool = torch.nn.functional.max_pool2d
        x = pool(torch.relu(self.convolution1(images)), 2)
        x = pool(torch.relu(self.convolution2(x)), 2)
        return self.output(torch.relu(self.hidden(x.flatten(1))))


MODELS = {"mlp": Mlp, "cnn": Cnn}


def make_model(config):
    model = row_named(MODELS, "model", config["model"])(config)
    saved = read_safetensors(config["weights"])
    for name, parameter in model.named_parameters():
        if name not in saved or saved[name].shape != parameter.shape:
            there = tuple(saved[name].shape) if name in saved else "no tensor"
            raise PeerError(
                f"cannot use the weights {config['weights']}",
                f"{name}: {there} instead of {tuple(parameter.shape)}",
                "give the model, hidden_units, hidden_layers and image_size "
                "of the job that made them")
        parameter.data.copy_(saved[name])
    return model


# ---- network


def interface_to(address):
    """Name of the interface whose address is used to reach `address`."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((address, 9))  # sends nothing
        own = probe.getsockname()[0]
        if own.startswith("127."):
            return "lo"
        for _, name in socket.if_nameindex():
            request = struct.pack("256s", name.encode())
            try:
                answer = fcntl.ioctl(probe, 0x8915, request)  # SIOCGIFADDR
            except OSError:
                continue  # an interface without an IPv4 address
            if socket.inet_ntoa(answer[20:24]) == own:
                return name
    raise PeerError(f"cannot find the way to {address}",
                    f"no interface has the address {own}",
                    "set interface in the configuration")


def interface_bytes(interface):
    """Bytes received and sent; /proc follows the process's own namespace."""
    with open("/proc/self/net/dev", encoding="ascii") as file:
        for line in file:
            name, _, numbers = line.partition(":")
            if name.strip() == interface:
                fields = numbers.split()
                return int(fields[0]), int(fields[8])
    raise PeerError("cannot count the bytes on the wire",
                    f"no interface {interface}",
                    "set interface in the configuration")


def join_group(config):
    missing = [name for name in ("RANK", "WORLD_SIZE", "MASTER_ADDR",
                                 "MASTER_PORT") if name not in os.environ]
    if missing:
        raise PeerError("cannot join the other ranks",
                        "no " + ", ".join(missing) + " in the environment",
                        "start with egpurun, torchrun, or set them")
    interface = config["interface"] or interface_to(os.environ["MASTER_ADDR"])
    os.environ.setdefault("GLOO_SOCKET_IFNAME", interface)
    torch.distributed.init_process_group(
        "gloo", timeout=datetime.timedelta(minutes=2))
    return interface


# ---- training


def train(config, images, order, model, hook, interface):
    """This rank's times, losses and wire bytes, one of each per step."""
    rank = torch.distributed.get_rank()
    share = config["batch_size"] // torch.distributed.get_world_size()
    own = order[:, rank * share:(rank + 1) * share]
    parallel = torch.nn.parallel.DistributedDataParallel(
        model, bucket_cap_mb=config["bucket_cap_mb"],
        gradient_as_bucket_view=True)
    if hook is not None:
        parallel.register_comm_hook(None, hook)
    optimizer = torch.optim.SGD(
        model.parameters(), lr=config["learning_rate"],
        momentum=config["momentum"], weight_decay=config["weight_decay"])
    loss_of = torch.nn.CrossEntropyLoss()
    rows = []
    torch.distributed.barrier()
    before = interface_bytes(interface)
    for indices in own:
        start = time.perf_counter()
        batch, labels = images.batch(indices)
        optimizer.zero_grad()
        loss = loss_of(parallel(batch), labels)
        loss.backward()
        optimizer.step()
        seconds = time.perf_counter() - start
        after = interface_bytes(interface)
        rows.append({"step_ms": seconds * 1e3, "loss": loss.item(),
                     "received_bytes": after[0] - before[0],
                     "sent_bytes": after[1] - before[1]})
        before = after
    return rows


def join_rows(per_rank, per_host):
    """Slowest time, mean loss and the PCs' bytes of each step."""
    joined = []
    for step, rows in enumerate(zip(*per_rank)):
        hosts = [rank_rows[step] for rank_rows in per_host]
        joined.append({
            "step": step,
            "step_ms": max(row["step_ms"] for row in rows),
            "loss": sum(row["loss"] for row in rows) / len(rows),
            "sent_bytes": sum(row["sent_bytes"] for row in hosts),
            "received_bytes": sum(row["received_bytes"] for row in hosts)})
    return joined


def summarize(steps, config):
    skipped = min(config["warmup_steps"], len(steps) // 4)
    measured = steps[skipped:]
    times = sorted(row["step_ms"] for row in measured)
    return {
        "measured_steps": len(measured),
        "warmup_steps": skipped,
        "step_median_ms": float(numpy.median(times)),
        "step_p95_ms": times[(len(times) * 95 + 99) // 100 - 1],
        "samples_per_s": len(times) * config["batch_size"] / sum(times) * 1e3,
        "sent_bytes_per_step": sum(row["sent_bytes"] for row in measured)
        / len(measured),
        "final_loss": steps[-1]["loss"]}


def prepare(config):
    """Images, order of the wanted steps, model and hook."""
    images = Images(config["data_folder"], config["image_size"])
    order = read_order(config["order"], config["batch_size"])
    wanted = config["steps"] or len(order)
    if wanted > len(order) or order.min() < 0 or \
            order.max() >= len(images.labels):
        raise PeerError(
            f"cannot train {wanted} steps",
            f"an order of {len(order)} steps over samples {order.min()} to "
            f"{order.max()} of {len(images.labels)}",
            "export a longer order, or one of this data set")
    world_size = int(os.environ.get("WORLD_SIZE", "1"))
    if config["batch_size"] % world_size != 0:
        raise PeerError(f"cannot split {config['batch_size']} samples",
                        f"{world_size} ranks",
                        "give a batch_size that they divide")
    return (images, order[:wanted], make_model(config),
            row_named(HOOKS, "codec", config["codec"]))


def write_result(config, answers, parameters):
    """`answers`: rows, whether its bytes count, and interface of each rank."""
    steps = join_rows([answer[0] for answer in answers],
                      [answer[0] for answer in answers if answer[1]])
    result = {"config": config, "world_size": len(answers),
              "torch": torch.__version__,
              "interfaces": [answer[2] for answer in answers],
              "parameters": parameters,
              "summary": summarize(steps, config), "steps": steps}
    try:
        with open(config["output"], "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
    except OSError as error:
        raise PeerError("cannot write the result", str(error),
                        "set output to a file that can be written") from error


def run(config):
    torch.set_num_threads(1)
    torch.manual_seed(config["seed"])
    images, order, model, hook = prepare(config)
    interface = join_group(config)
    rows = train(config, images, order, model, hook, interface)
    answers = [None] * torch.distributed.get_world_size()
    # Ranks of one PC see the same counters: its first rank speaks for it.
    torch.distributed.all_gather_object(
        answers, (rows, os.environ.get("LOCAL_RANK", "0") == "0", interface))
    if torch.distributed.get_rank() == 0:
        write_result(config, answers,
                     sum(p.numel() for p in model.parameters()))
    # Rank 0 holds the store: no rank may leave before all are through with it.
    torch.distributed.barrier()


def leave(status):
    """Ends without Gloo's teardown, in which a rank now and then aborts because
    the other one has just closed the connection."""
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)


def main(arguments):
    try:
        if len(arguments) != 2 or arguments[1].startswith("-"):
            raise PeerError("cannot start", "no configuration file",
                            "write: ddp_peer.py CONFIG.json")
        run(read_config(arguments[1]))
        return 0
    except PeerError as error:
        asked, found, advice = error.args
        print(f"ddp_peer: {asked}\n  found: {found}\n  to do: {advice}",
              file=sys.stderr)
        return 2


if __name__ == "__main__":
    leave(main(sys.argv))

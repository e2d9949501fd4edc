#!/usr/bin/env python3
"""Durable queues of ours beside those of other brokers: the same load on each, in turns, on the same disk.

Not a test: it needs a machine that does nothing else, and brokers that are installed (RabbitMQ of Debian) or were built elsewhere
(qpidd, with `--qpidd COMMAND`). It measures, by `waystation bench`:

- processor time of the server by the message and messages a second, with as many senders as receivers on one queue, and
- how long after it was due a message was accepted, at a fixed rate, beside how long the same disk takes at this rate by itself.

Each figure is the median of `--rounds` rounds, in which the brokers take turns. Prints one table in Markdown.
"""

import argparse
import json
import os
import shlex
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from proton import Message
from proton.utils import BlockingConnection

from support.rabbitmq import RabbitMq
from support.router import free_port, wait_until

#: Bytes in the body of a message.
SIZE = 1024
#: Messages a second where their acceptance is timed.
RATE = 1000


def listens(port):
    return RabbitMq._listens(port)


class Ours:
    """A router with one queue, durable or in memory."""

    def __init__(self, name, program, queue):
        self.name, self.program, self.queue = name, program, queue
        self.address = "load"

    def start(self, folder):
        self.port = free_port()
        config = Path(folder) / "router.conf"
        config.write_text(
            f"router {{ id: compared }}\nlistener {{\n host: 127.0.0.1\n port: {self.port}\n}}\n"
            f"store {{ path: {folder}/store }}\n{self.queue}\n"
        )
        output = open(Path(folder) / "output", "wb")
        self.process = subprocess.Popen([self.program, "run", "--config", config], stdout=output, stderr=output)
        wait_until(lambda: listens(self.port), self.name)
        return self.process.pid

    def stop(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()


class Qpidd:
    """qpidd with a durable queue in its linear store. The queue is made by its management's own request (QMF 2)."""

    name = "qpidd, linear store"
    address = "load"

    def __init__(self, command):
        self.command = shlex.split(command)

    def start(self, folder):
        self.port = free_port()
        options = ["--port", str(self.port), "--interface", "127.0.0.1", "--auth", "no", "--no-data-dir", "--store-dir", folder]
        output = open(Path(folder) / "output", "wb")
        self.process = subprocess.Popen([*self.command, *options], stdout=output, stderr=output)
        wait_until(lambda: listens(self.port), self.name)
        connection = BlockingConnection(f"amqp://127.0.0.1:{self.port}", allowed_mechs="ANONYMOUS")
        answers = connection.create_receiver(None, dynamic=True)
        request = Message(
            subject="broker",
            reply_to=answers.link.remote_source.address,
            correlation_id="1",
            properties={"x-amqp-0-10.app-id": "qmf2", "qmf.opcode": "_method_request", "method": "request"},
            body={
                "_object_id": {"_object_name": "org.apache.qpid.broker:broker:amqp-broker"},
                "_method_name": "create",
                "_arguments": {"type": "queue", "name": self.address, "properties": {"durable": True}},
            },
        )
        connection.create_sender("qmf.default.direct").send(request)
        answer = answers.receive()
        assert answer.properties["qmf.opcode"] == "_method_response", answer.body
        connection.close()
        return self.process.pid

    def stop(self):
        self.process.kill()
        self.process.wait()


class Rabbit:
    """RabbitMQ by its AMQP 1.0 plug-in."""

    def __init__(self, name, arguments):
        self.name, self.arguments = name, arguments
        self.address = "/amq/queue/load"

    def start(self, folder):
        self.broker = RabbitMq(folder, ["load"])
        definitions = Path(folder) / "definitions.json"
        told = json.loads(definitions.read_text())
        told["queues"][0]["arguments"] = self.arguments
        definitions.write_text(json.dumps(told))
        self.broker.start()
        self.port = self.broker.port
        ours = os.getpgid(self.broker.process.pid)
        beams = subprocess.run(["pgrep", "-g", str(ours), "beam"], capture_output=True, text=True, check=True).stdout.split()
        return int(beams[0])

    def stop(self):
        self.broker.stop()


def raw_fdatasync(folder, seconds):
    """Microseconds (p50, p99) until a message's bytes are on the disk, by nothing but write, into space that is there, and fdatasync.

    Like the load: messages are due at its rate, those that become due while the disk is busy go with the next fdatasync
    together, and their time counts from when they were due. Else a disk that halts would be seen once here, and by every
    message meanwhile there.
    """
    times = []
    with open(Path(folder) / "raw", "wb+", buffering=0) as file:
        file.write(bytes(16 << 20))
        os.fdatasync(file.fileno())
        begin = time.perf_counter()
        written, done, count = begin, 0, seconds * RATE
        while done < count:
            due = begin + done / RATE
            late = written - due
            if late < 0:
                time.sleep(-late)
            now = time.perf_counter()
            # Being woken too late is not the disk's.
            waiting = [now if late < 0 else due]
            while done + len(waiting) < count and (next_due := begin + (done + len(waiting)) / RATE) <= now:
                waiting.append(next_due)
            file.seek(done * 4096 % (16 << 20))
            file.write(bytes(4096))
            os.fdatasync(file.fileno())
            written = time.perf_counter()
            times.extend((written - since) * 1e6 for since in waiting)
            done += len(waiting)
    cuts = statistics.quantiles(times, n=100)
    return cuts[49], cuts[98]


def bench(arguments, broker, pid, *options):
    """One run of load; what it found, or None if the broker did not go through with it."""
    command = [
        arguments.bench, "bench", "--address", broker.address, "--size", str(SIZE), "--durable", "--window", "500", "--json",
        "--quiet", "--pid", str(pid), "--duration", str(arguments.seconds), "--drain", "60", *options,
        "--url", f"amqp://127.0.0.1:{broker.port}",
    ]  # fmt: skip
    ran = subprocess.run(command, capture_output=True, text=True)
    try:
        found = json.loads(ran.stdout)
    except json.JSONDecodeError:
        print(f"{broker.name}: {' '.join(options)}: {ran.stderr.strip() or ran.stdout.strip()}", file=sys.stderr)
        return None
    if ran.returncode:
        print(f"{broker.name}: {' '.join(options)}: {json.dumps(found['check'])}", file=sys.stderr)
    return found


def measure(arguments, broker, figures):
    """All loads on one broker, once. Each begins with a broker and a folder of its own."""
    loads = [(f"{n} to {n}", ["--senders", str(n), "--receivers", str(n)]) for n in (1, 8)]
    loads.append(("paced", ["--rate", str(RATE)]))
    for load, options in loads:
        with tempfile.TemporaryDirectory(dir=arguments.disk) as folder:
            pid = broker.start(folder)
            try:
                found = bench(arguments, broker, pid, *options)
                if load == "paced":
                    raw = raw_fdatasync(folder, arguments.seconds)
                    figures.setdefault((broker.name, "raw p50"), []).append(raw[0])
                    figures.setdefault((broker.name, "raw p99"), []).append(raw[1])
            finally:
                broker.stop()
            if found is None:
                continue
            if load == "paced":
                for name in ("p50", "p99"):
                    figures.setdefault((broker.name, f"accepted {name}"), []).append(found["outcome"][name])
            figures.setdefault((broker.name, f"{load} cpu"), []).append(found["server"]["cpu_per_message"])
            figures.setdefault((broker.name, f"{load} rate"), []).append(found["messages_per_second"])


COLUMNS = [
    ("1 to 1: µs CPU", "1 to 1 cpu"), ("messages/s", "1 to 1 rate"), ("8 to 8: µs CPU", "8 to 8 cpu"), ("messages/s", "8 to 8 rate"),
    (f"{RATE}/s: µs CPU", "paced cpu"), ("accepted p50 µs", "accepted p50"), ("p99 µs", "accepted p99"),
    ("raw fdatasync p50 µs", "raw p50"), ("p99 µs", "raw p99"),
]  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=Path, help="folder of our programs: a release build")
    parser.add_argument("--qpidd", help="command that runs qpidd 1.39 with the modules amqp and linearstore")
    parser.add_argument("--disk", default=".", help="folder on the disk to be measured")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=int, default=10, help="of each load")
    parser.add_argument("--only", metavar="TEXT", help="those brokers only whose names have this in them, in any case")
    arguments = parser.parse_args()
    arguments.bench = arguments.programs / "waystation"
    brokers = [
        Ours("Waystation", arguments.bench, "queue { address: load }"),
        Ours("Waystation, not durable", arguments.bench, "queue {\n address: load\n durable: no\n}"),
        Ours("Waystation, no queue", arguments.bench, ""),
        Rabbit("RabbitMQ, classic", {}),
        Rabbit("RabbitMQ, quorum", {"x-queue-type": "quorum"}),
    ]
    if arguments.qpidd:
        brokers.append(Qpidd(arguments.qpidd))
    if arguments.only:
        brokers = [broker for broker in brokers if arguments.only.lower() in broker.name.lower()]
        if not brokers:
            parser.error(f"no broker has '{arguments.only}' in its name")
    figures = {}
    for number in range(arguments.rounds):
        for broker in brokers:
            print(f"round {number + 1}: {broker.name}", file=sys.stderr)
            measure(arguments, broker, figures)
        show(brokers, figures)


def show(brokers, figures):
    """Prints what is known so far: a round that takes too long loses none of those before."""
    print("| | " + " | ".join(title for title, _ in COLUMNS) + " |")
    print("|---" * (len(COLUMNS) + 1) + "|")
    for broker in brokers:
        row = (figures.get((broker.name, column)) for _, column in COLUMNS)
        cells = (f"{statistics.median(found):,.1f} ({len(found)})" if found else "-" for found in row)
        print(f"| {broker.name} | " + " | ".join(cells) + " |")
    print(flush=True)


if __name__ == "__main__":
    main()

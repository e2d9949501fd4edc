"""A router program in a process of its own, on a free port of the loopback interface."""

import os
import signal
import socket
import subprocess
import time
from pathlib import Path

#: Names the folder that holds the programs under test.
PROGRAMS = "WAYSTATION_PROGRAMS"

#: Names a router program of the old kind, which networks of both kinds are then made of as well.
OLD_ROUTER = "WAYSTATION_OLD_ROUTER"

#: Seconds. Nothing here takes that long; only something broken does.
PATIENCE = 120


def program(name):
    """The path of one of the programs under test."""
    folder = os.environ.get(PROGRAMS)
    if not folder:
        raise RuntimeError(f"{PROGRAMS} must name the folder of the programs under test; `cargo xtask interop` sets it")
    return str(Path(folder) / name)


#: The ports that tests share out among them: none of those that the system gives to whoever asks for any.
PORTS = range(11_000, 20_000)

#: UDP sockets: who holds the UDP port of a number has the TCP port of that number. (crates/cli/tests/support/ports.rs goes
#: by the same rule.)
_held = []


def free_port():
    """A port that nobody listens on, nor will until this process ends, not even while its router is away for a moment."""
    begin = os.getpid() * 61
    for number in range(len(PORTS)):
        address = ("127.0.0.1", PORTS[(begin + number) % len(PORTS)])
        token = socket.socket(type=socket.SOCK_DGRAM)
        with socket.socket() as probe:
            probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            try:
                token.bind(address)
                probe.bind(address)
            except OSError:
                token.close()
                continue
        _held.append(token)
        return address[1]
    raise AssertionError(f"none of the ports {PORTS} is free")


def wait_until(condition, what, patience=PATIENCE):
    """Returns the first true result of `condition`, asked again and again; gives up loudly."""
    deadline = time.monotonic() + patience
    while True:
        result = condition()
        if result:
            return result
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain for {what}")
        time.sleep(0.02)


class Router:
    """A running router. `listener` and `router` are extra lines in those sections, `sections` extra sections."""

    def __init__(self, folder, *, listener="", router="", sections="", log="info+", id="interop"):
        self.folder = Path(folder)
        self.port = free_port()
        self.id = id
        self.log_file = self.folder / "router.log"
        self.config_file = self.folder / "router.conf"
        self.output_file = self.folder / "router.out"
        self.config_file.write_text(
            f"""
router {{
    mode: standalone
    id: {id}
    {router}
}}
listener {{
    host: 127.0.0.1
    port: {self.port}
    saslMechanisms: ANONYMOUS
    authenticatePeer: no
    {listener}
}}
log {{
    module: DEFAULT
    enable: {log}
    outputFile: {self.log_file}
}}
{sections}
"""
        )
        self.executable = None
        self.process = None

    def start(self):
        with open(self.output_file, "ab") as output:
            command = [self.executable or program("qdrouterd"), "-c", str(self.config_file)]
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        self.wait_for_port(self.port)
        return self

    def wait_for_port(self, port):
        """Until somebody listens there."""

        def listening():
            assert self.is_running(), f"the router stopped at start:\n{self.told()}"
            with socket.socket() as probe:
                return probe.connect_ex(("127.0.0.1", port)) == 0

        wait_until(listening, f"port {port}")

    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """Asks it to stop, as an operator would, and returns its exit status."""
        if self.is_running():
            self.process.send_signal(signal.SIGTERM)
        try:
            return self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise AssertionError("the router did not stop") from None

    def kill(self):
        """Ends it without notice."""
        self.process.kill()
        self.process.wait()

    @property
    def url(self):
        return f"amqp://127.0.0.1:{self.port}"

    def log(self):
        return self.log_file.read_text(errors="replace") if self.log_file.exists() else ""

    def told(self):
        """What it printed and logged."""
        printed = self.output_file.read_text(errors="replace") if self.output_file.exists() else ""
        return printed + self.log()[-4000:]

    def memory(self, field="VmRSS"):
        """Bytes of memory it holds (VmRSS), or held at most (VmHWM)."""
        for line in Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(field + ":"):
                return int(line.split()[1]) * 1024
        raise AssertionError(f"no {field} in the process's status")


class Configured(Router):
    """A router whose configuration is a test's own, but for where it logs; clients connect to `port`."""

    def __init__(self, folder, text, port):
        super().__init__(folder)
        self.port = port
        self.config_file.write_text(f"{text}\nlog {{\n module: DEFAULT\n enable: info+\n outputFile: {self.log_file}\n}}\n")

"""RabbitMQ as Debian packages it, with its AMQP 1.0 plug-in: a process of its own, on loopback ports of its own."""

import json
import os
import re
import signal
import socket
import subprocess
from pathlib import Path

from .router import PATIENCE, free_port, wait_until

#: Where Debian puts the programs. Those on the search path change to the user `rabbitmq`; these do not.
BIN = Path("/usr/lib/rabbitmq/bin")

#: Seconds that a broker may take to start: it starts a virtual machine, and recovers its queues.
START = 90


#: What it writes when it finds that a process of its own is gone.
LOST_PROCESS = re.compile(r"internal error in channel \(<[0-9.]+>\): noproc")


class RabbitMq:
    """A broker with durable queues, kept in `folder`, so that it can be killed and started again.

    A durable queue `q` has the address `/amq/queue/q`. Any other name is that of a queue that RabbitMQ makes when a link
    is attached to it; such a queue is gone after a restart.
    """

    def __init__(self, folder, queues=(), port=None):
        self.folder = Path(folder)
        self.port = port or free_port()
        self.name_port, self.distribution_port = free_port(), free_port()
        self.node = f"interop-{self.port}@localhost"
        self.process = self.names = None
        (self.folder / "rabbitmq.conf").write_text(
            f"""
listeners.tcp.1 = 127.0.0.1:{self.port}
amqp1_0.default_user = guest
load_definitions = {self.folder}/definitions.json
"""
        )
        (self.folder / "enabled_plugins").write_text("[rabbitmq_amqp1_0].\n")
        everything = {"configure": ".*", "write": ".*", "read": ".*"}
        definitions = {
            "users": [{"name": "guest", "password": "guest", "tags": "administrator"}],
            "vhosts": [{"name": "/"}],
            "permissions": [{"user": "guest", "vhost": "/", **everything}],
            "queues": [
                {"name": name, "vhost": "/", "durable": True, "auto_delete": False, "arguments": {}} for name in queues
            ],
        }
        (self.folder / "definitions.json").write_text(json.dumps(definitions))

    @property
    def url(self):
        """For clients that are connected to the broker itself."""
        return f"amqp://127.0.0.1:{self.port}"

    def _environment(self):
        only_loopback = "-kernel inet_dist_use_interface {127,0,0,1}"
        return {
            **os.environ,
            # The cookie that nodes and tools know each other by is kept here.
            "HOME": str(self.folder),
            "ERL_EPMD_PORT": str(self.name_port),
            "ERL_EPMD_ADDRESS": "127.0.0.1",
            "RABBITMQ_NODENAME": self.node,
            "RABBITMQ_DIST_PORT": str(self.distribution_port),
            "RABBITMQ_MNESIA_BASE": str(self.folder / "mnesia"),
            "RABBITMQ_LOG_BASE": str(self.folder / "log"),
            "RABBITMQ_CONFIG_FILE": str(self.folder / "rabbitmq.conf"),
            "RABBITMQ_ENABLED_PLUGINS_FILE": str(self.folder / "enabled_plugins"),
            "RABBITMQ_CONF_ENV_FILE": str(self.folder / "none"),
            "RABBITMQ_PID_FILE": str(self.folder / "pid"),
            "RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS": only_loopback,
            # Two cores are shared by brokers, routers and clients: no busy waiting.
            "RABBITMQ_SCHEDULER_BIND_TYPE": "u",
            "RABBITMQ_SERVER_START_ARGS": "+sbwt none +sbwtdcpu none +sbwtdio none",
        }

    def start(self):
        """Starts it, again if it was there before, and waits until it takes connections."""
        with open(self.folder / "output", "ab") as output:
            options = {"env": self._environment(), "stdin": subprocess.DEVNULL, "stdout": output, "stderr": output}
            if self.names is None:
                names = ["epmd", "-port", str(self.name_port), "-address", "127.0.0.1"]
                self.names = subprocess.Popen(names, **options)
                wait_until(lambda: self._listens(self.name_port), "Erlang's port mapper")
            # A session of its own, so that all of its processes can be ended.
            self.process = subprocess.Popen([BIN / "rabbitmq-server"], start_new_session=True, **options)

        def ready():
            assert self.process.poll() is None, f"RabbitMQ stopped at start:\n{self.told()}"
            return self._listens(self.port)

        wait_until(ready, "RabbitMQ", START)
        return self

    @staticmethod
    def _listens(port):
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    def kill(self):
        """Ends it as a fault would: nothing is said, nothing is written."""
        if self.process is not None:
            os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait(PATIENCE)
            self.process = None

    def stop(self):
        """Ends it and what it needs; its queues are not wanted any more."""
        self.kill()
        if self.names is not None:
            self.names.kill()
            self.names.wait(PATIENCE)

    def depths(self):
        """How many messages are in each queue, by name."""
        command = [BIN / "rabbitmqctl", "--node", self.node, "list_queues", "name", "messages", "--formatter", "json", "--quiet"]
        told = subprocess.run(command, env=self._environment(), capture_output=True, timeout=START, check=True).stdout
        return {queue["name"]: queue["messages"] for queue in json.loads(told)}

    def told(self):
        return (self.folder / "output").read_text(errors="replace")[-4000:]

    def lost_processes(self):
        """How often it has ended a session because a process of its own was gone. RabbitMQ 3.10 was seen to do so when links came
        soon after it had ended another session."""
        logs = (log.read_text(errors="replace") for log in (self.folder / "log").glob("*.log"))
        return sum(len(LOST_PROCESS.findall(log)) for log in logs)

"""A client in a process of its own: sends messages to itself through a router, and says what came of it as JSON."""

import json
import sys

from proton import Message
from proton.handlers import MessagingHandler
from proton.reactor import Container


class Client(MessagingHandler):
    def __init__(self, options):
        super().__init__()
        self.options = options
        self.count = options.get("count", 3)
        self.body = "x" * options.get("size", 10)
        self.sent = self.received = 0
        self.error = None

    def on_start(self, event):
        known = ("user", "password", "virtual_host", "allowed_mechs")
        options = {name: self.options[name] for name in known if name in self.options}
        self.connection = event.container.connect(
            self.options["url"], reconnect=False, allow_insecure_mechs=True, **options
        )

    def on_connection_opened(self, event):
        address = self.options.get("address", "q")
        event.container.create_receiver(self.connection, address)
        event.container.create_sender(self.connection, address)

    def on_sendable(self, event):
        while event.sender.credit and self.sent < self.count:
            event.sender.send(Message(body=self.body))
            self.sent += 1

    def on_message(self, event):
        assert event.message.body == self.body
        self.received += 1
        if self.received == self.count:
            self.connection.close()

    def on_transport_error(self, event):
        self.error = event.transport.condition and event.transport.condition.description


client = Client(json.loads(sys.argv[1]))
Container(client).run()
print(json.dumps({"received": client.received, "error": client.error}))

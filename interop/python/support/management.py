"""Requests to a router's management node."""

import itertools

from proton import Message

_numbers = itertools.count(1)
PREFIX = "org.apache.qpid.dispatch."


class Reply:
    """What the management node answered."""

    def __init__(self, message):
        self.status = message.properties["statusCode"]
        self.description = message.properties["statusDescription"]
        self.body = message.body
        self.correlation_id = message.correlation_id


class Management:
    """The management node as seen from one client."""

    def __init__(self, peer, address="$management"):
        self.peer = peer
        self.replies = peer.receiver(credit=100, accepts=True)
        self.requests = peer.sender(address)

    def ask(self, operation, body=None, **properties):
        """Any request."""
        message = Message(
            body=body, reply_to=self.replies.address, correlation_id=f"request-{next(_numbers)}",
            properties={"operation": operation, **properties},
        )
        self.requests.send(message)
        reply = Reply(self.replies.next().message)
        self.replies.flow(1)
        assert reply.correlation_id == message.correlation_id
        return reply

    def query(self, type, *names):
        """All entities of a type, each a dictionary."""
        reply = self.ask("QUERY", {"attributeNames": list(names)}, type="org.amqp.management", name="self", entityType=PREFIX + type)
        assert reply.status == 200, reply.description
        return [dict(zip(reply.body["attributeNames"], row)) for row in reply.body["results"]]

    def create(self, type, name, **attributes):
        return self.ask("CREATE", attributes, type=PREFIX + type, name=name)

    def read(self, type, **key):
        return self.ask("READ", type=PREFIX + type, **key)

    def update(self, type, attributes, **key):
        return self.ask("UPDATE", attributes, type=PREFIX + type, **key)

    def delete(self, type, **key):
        return self.ask("DELETE", type=PREFIX + type, **key)

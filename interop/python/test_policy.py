"""What vhost policies let a client do, and what Proton's client sees of a refusal."""

GROUP = """
policy {
    enableVhostPolicy: yes
}
vhost {
    hostname: $default
    allowUnknownUser: yes
    maxConnectionsPerUser: 2
    groups: {
        $default: {
            remoteHosts: *
            sources: ok*, mail.${user}
            targets: ok*
            allowAnonymousSender: yes
            maxSenders: 3
            maxMessageSize: 100000
        }
    }
}
"""


def policed(start_router, connect):
    return connect(start_router(sections=GROUP))


def test_addresses_that_are_allowed_work(start_router, connect):
    peer = policed(start_router, connect)
    receiver = peer.receiver("ok/1")

    sent = peer.sender("ok/1").send("x")

    assert receiver.next().accept().body == "x"
    assert sent.outcome() == "accepted"


def test_the_users_name_is_put_into_addresses(start_router, connect):
    peer = policed(start_router, connect)

    assert peer.receiver("mail.anonymous").link.remote_source.address == "mail.anonymous"
    assert peer.receiver("mail.bob", wait=False).refusal().name == "amqp:unauthorized-access"


def test_a_link_that_is_not_allowed_is_refused(start_router, connect):
    peer = policed(start_router, connect)

    refusal = peer.sender("secret", wait=False).refusal()

    assert (refusal.name, refusal.description) == ("amqp:unauthorized-access", "link disallowed by local policy")


def test_messages_of_anonymous_senders_are_judged_one_by_one(start_router, connect):
    from proton import Message

    peer = policed(start_router, connect)
    receiver = peer.receiver("ok/2")
    sender = peer.sender(None)

    allowed = sender.send(Message(address="ok/2", body="x"))
    receiver.next().accept()
    refused = sender.send(Message(address="secret", body="y"))

    assert allowed.outcome() == "accepted"
    assert refused.outcome() == "rejected"
    assert refused.remote.condition.name == "amqp:unauthorized-access"


def test_a_message_that_is_too_large_ends_its_connection(start_router, connect):
    peer = policed(start_router, connect)
    large = peer.connect()
    peer.receiver("ok/3")
    sent = peer.sender("ok/3", connection=large).send("x" * 200_000)

    peer.until(lambda: large.remote_condition, "the end of the connection")

    assert sent.outcome() == "rejected"
    assert (large.remote_condition.name, large.remote_condition.description) == (
        "amqp:connection:forced",
        "Message size exceeded",
    )


def test_the_third_connection_of_a_user_is_closed(start_router, connect):
    peer = policed(start_router, connect)
    peer.connect()

    third = peer.connect()
    peer.until(lambda: third.remote_condition, "the refusal")

    assert third.remote_condition.description == "connection disallowed by local policy"

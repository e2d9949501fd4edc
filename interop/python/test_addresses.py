"""Addresses: which receivers a message goes to, and which attaches are refused."""

import pytest
from proton import Message


def test_dynamic_sources_get_different_addresses_that_work(peer):
    first, second = peer.receiver(), peer.receiver()
    assert first.address != second.address

    peer.sender(first.address).send("for the first")
    peer.sender(second.address).send("for the second")

    assert (first.next().body, second.next().body) == ("for the first", "for the second")


def test_a_dynamic_source_names_the_router(peer, router):
    assert f"_topo/0/{router.id}/temp." in peer.receiver().address


def test_a_request_is_answered_to_a_dynamic_address(peer, address):
    requests = peer.receiver(address)
    replies = peer.receiver()
    peer.sender(address).send(Message(body="question", reply_to=replies.address, correlation_id="7"))

    request = requests.next().accept().message
    peer.sender(None).send(Message(address=request.reply_to, correlation_id=request.correlation_id, body="answer"))

    reply = replies.next().accept().message
    assert (reply.body, reply.correlation_id) == ("answer", "7")


def test_an_anonymous_sender_reaches_any_address(peer, address):
    one, other = peer.receiver(address + "/one"), peer.receiver(address + "/other")
    sender = peer.sender(None)

    sender.send(Message(address=address + "/one", body=1))
    sender.send(Message(address=address + "/other", body=2))

    assert (one.next().body, other.next().body) == (1, 2)


def test_an_anonymous_message_without_an_address_is_rejected(peer):
    sent = peer.sender(None).send("to whom?")

    assert sent.outcome() == "rejected"
    assert sent.remote.condition.name == "amqp:precondition-failed"


def test_an_anonymous_message_to_nobody_is_released(peer, address):
    sent = peer.sender(None).send(Message(address=address, body="x"))

    assert sent.outcome() == "released"


def test_a_rejected_anonymous_message_costs_no_credit(peer):
    sender = peer.sender(None)

    for _ in range(300):
        assert sender.send("to whom?").outcome() == "rejected"


@pytest.mark.parametrize("text", ["a", "ä", "with space", "1", "x" * 2000, "dots.and/slashes", "#", "*"])
def test_any_text_can_be_an_address(peer, text):
    receiver = peer.receiver(text)
    sent = peer.sender(text).send("x")

    receiver.next().accept()

    assert sent.outcome() == "accepted"


@pytest.mark.parametrize("form", ["/{}", "amqp:/{}", "amqp://some.host:5672/{}", "{}/", "{}."])
def test_other_forms_of_an_address_mean_the_same(peer, address, form):
    receiver = peer.receiver(address)
    peer.sender(form.format(address)).send("x")

    assert receiver.next().body == "x"


def test_a_local_address_works_within_the_router(peer, address):
    receiver = peer.receiver("_local/" + address)
    peer.sender("_local/" + address).send("x")

    assert receiver.next().body == "x"


def test_addresses_are_case_sensitive(peer, address):
    peer.receiver(address + "/x")
    sent = peer.sender(None).send(Message(address=address + "/X", body="x"))

    assert sent.outcome() == "released"


def test_balanced_shares_between_receivers_by_their_load(peer, address):
    receivers = [peer.receiver(address) for _ in range(4)]
    sender = peer.sender(address)

    for number in range(8):
        sender.send(number)
    peer.until(lambda: sum(len(receiver.arrived) for receiver in receivers) == 8, "all deliveries")

    assert [len(receiver.arrived) for receiver in receivers] == [2, 2, 2, 2]


def test_closest_takes_turns(peer, address):
    receivers = [peer.receiver("closest/" + address) for _ in range(4)]
    sender = peer.sender("closest/" + address)

    for number in range(8):
        sender.send(number)
    peer.until(lambda: sum(len(receiver.arrived) for receiver in receivers) == 8, "all deliveries")

    assert [len(receiver.arrived) for receiver in receivers] == [2, 2, 2, 2]


def test_multicast_gives_each_receiver_a_copy(peer, address):
    receivers = [peer.receiver("multicast/" + address) for _ in range(5)]
    peer.sender("multicast/" + address).send("to all")

    assert [receiver.next().accept().body for receiver in receivers] == ["to all"] * 5


def test_a_large_multicast_message_arrives_whole_everywhere(peer, address):
    receivers = [peer.receiver("multicast/" + address) for _ in range(3)]
    body = b"0123456789abcdef" * 65536
    sent = peer.sender("multicast/" + address).send(Message(body=body, inferred=True))

    assert all(receiver.next().accept().body == body for receiver in receivers)
    assert sent.outcome() == "accepted"


def test_an_unavailable_address_refuses_links(peer, address):
    condition = peer.sender("unavailable/" + address, wait=False).refusal()

    assert (condition.name, condition.description) == ("amqp:not-found", "Node not found")


def test_an_unavailable_address_rejects_anonymous_messages(peer, address):
    sent = peer.sender(None).send(Message(address="unavailable/" + address, body="x"))

    assert sent.outcome() == "rejected"
    assert sent.remote.condition.name == "amqp:not-found"


def test_a_refused_link_is_attached_with_no_terminus_first(peer, address):
    sender = peer.sender("unavailable/" + address, wait=False)

    sender.refusal()

    assert sender.link.remote_target.address is None


def test_a_receiver_without_an_address_is_refused(peer):
    condition = peer.receiver("", wait=False, set_up=lambda link: None).refusal()

    assert condition.name == "qd:no-route-to-dest"


def test_a_link_name_can_be_used_again_after_a_detach(peer, address):
    session = peer.session()
    peer.sender(address, session=session, name="again").close()
    receiver = peer.receiver(address)

    peer.sender(address, session=session, name="again").send("x")

    assert receiver.next().body == "x"


def test_a_transaction_coordinator_is_refused_with_a_reason(peer):
    from proton import Terminus

    def coordinator(link):
        link.target.type = Terminus.COORDINATOR

    condition = peer.sender(None, wait=False, set_up=coordinator).refusal()

    assert condition.name == "amqp:precondition-failed"
    assert "coordinate transactions" in condition.description

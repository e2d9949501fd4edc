"""Connections come and go: reconnects, losses, restarts, closes; nothing is left behind."""

from proton import Endpoint, Message


def test_a_receiver_that_reconnects_gets_what_comes_then(peer, address):
    old = peer.connect()
    peer.receiver(address, connection=old)
    peer.close(old)

    receiver = peer.receiver(address, connection=peer.connect())
    sent = peer.sender(address).send("after")

    assert receiver.next().accept().body == "after"
    assert sent.outcome() == "accepted"


def test_deliveries_unsettled_at_a_lost_receiver_are_modified(peer, address):
    lost = peer.connect()
    receiver = peer.receiver(address, connection=lost)
    sent = peer.sender(address).send("x")
    receiver.next()

    peer.disconnect(lost)

    assert sent.outcome() == "modified"
    assert sent.remote.failed


def test_deliveries_never_sent_to_a_lost_receiver_are_released(peer, address):
    lost = peer.connect()
    peer.receiver(address, connection=lost, credit=0)
    sent = peer.sender(address).send("x")
    peer.settle_down()

    peer.disconnect(lost)

    assert sent.outcome() == "released"


def test_deliveries_unsettled_at_a_detached_receiver_are_modified(peer, address):
    receiver = peer.receiver(address)
    sent = peer.sender(address).send("x")
    receiver.next()

    receiver.close()

    assert sent.outcome() == "modified"


def test_a_whole_delivery_arrives_though_its_sender_is_lost(peer, address):
    receiver = peer.receiver(address, credit=0)
    lost = peer.connect()
    peer.sender(address, connection=lost).send("orphan")
    peer.settle_down()
    peer.disconnect(lost)

    receiver.flow(1)

    assert receiver.next().body == "orphan"


def test_a_client_reconnects_to_a_router_that_was_restarted(start_router, connect, address):
    router = start_router()
    peer = connect(router)
    peer.receiver(address)
    router.kill()
    peer.until(lambda: not peer.is_connected(), "the loss")

    router.start()
    again = connect(router)
    receiver = again.receiver(address)
    sent = again.sender(address).send("back")

    assert receiver.next().accept().body == "back"
    assert sent.outcome() == "accepted"


def test_the_client_librarys_own_reconnect_brings_its_links_back(start_router, connect, address):
    router = start_router()
    peer = connect(router, reconnect=[0.0] + [0.1] * 200)
    receiver = peer.receiver(address)
    sender = peer.sender(address).wait_for_credit()
    router.kill()
    peer.until(lambda: sender.link.credit == 0 or not peer.is_connected(), "the loss")

    router.start()
    peer.until(peer.is_connected, "the connection to be back")
    receiver.flow(10)
    sent = sender.send("back")

    assert receiver.next().accept().body == "back"
    assert sent.outcome() == "accepted"


def test_two_hundred_connections_are_served_at_once(peer, address):
    receivers = []
    for number in range(200):
        receivers.append(peer.receiver(f"{address}/{number}", connection=peer.connect()))
    sender = peer.sender(None)

    for number in range(200):
        sender.send(Message(address=f"{address}/{number}", body=number))

    assert [receiver.next().accept().body for receiver in receivers] == list(range(200))


def test_three_hundred_links_on_one_session_work(peer, address):
    session = peer.session()
    receivers = [peer.receiver(f"{address}/{number}", session=session) for number in range(150)]
    senders = [peer.sender(f"{address}/{number}", session=session) for number in range(150)]

    for number, sender in enumerate(senders):
        sender.send(number)

    assert [receiver.next().body for receiver in receivers] == list(range(150))


def test_a_session_that_ends_takes_its_links_along_and_no_others(peer, address):
    ending, staying = peer.session(), peer.session()
    peer.receiver(address + "/ending", session=ending)
    receiver = peer.receiver(address + "/staying", session=staying)

    ending.close()
    peer.until(lambda: ending.state & Endpoint.REMOTE_CLOSED, "the answer to the end")
    peer.sender(address + "/staying", session=staying).send("x")

    assert receiver.next().body == "x"


def test_memory_comes_back_after_many_connections(start_router, connect):
    router = start_router()
    peer = connect(router)
    for _ in range(50):
        peer.close(peer.connect())
    before = router.memory()

    for _ in range(300):
        connection = peer.connect()
        peer.receiver(connection=connection)
        peer.close(connection)

    assert router.memory() - before < 8 * 1024 * 1024

"""A connection between two programs that a test can cut."""

import socket
import threading


class Proxy:
    """Listens on `port`, and passes bytes on to `to` on the loopback interface, until it is cut."""

    def __init__(self, port, to):
        self.to = to
        self.is_cut = False
        self.sockets = []
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self):
        """Ends what is connected, and lets nobody connect."""
        with self.lock:
            self.is_cut = True
            for each in self.sockets:
                _end(each)
            self.sockets = []

    def mend(self):
        with self.lock:
            self.is_cut = False

    def close(self):
        self.cut()
        self.listener.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            with self.lock:
                try:
                    far = None if self.is_cut else socket.create_connection(("127.0.0.1", self.to))
                except OSError:
                    far = None
                if far is None:
                    near.close()
                    continue
                self.sockets += [near, far]
            for one, other in ((near, far), (far, near)):
                threading.Thread(target=_pass, args=(one, other), daemon=True).start()


def _pass(from_, to):
    try:
        while data := from_.recv(65536):
            to.sendall(data)
    except OSError:
        pass
    _end(from_)
    _end(to)


def _end(each):
    try:
        each.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    each.close()

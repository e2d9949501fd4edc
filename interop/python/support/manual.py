"""The networks of the old router's manual: configurations of the same structure, on ports of our own."""

from .router import Configured, free_port

ROUTER = "router {{\n    mode: {mode}\n    id: {id}\n}}\n"
LISTENER = "listener {{\n    {key}: 127.0.0.1\n    port: {port}\n    authenticatePeer: no\n{role}}}\n"
CONNECTOR = "connector {{\n    name: {name}\n    {key}: 127.0.0.1\n    port: {port}\n    role: {role}\n{more}}}\n"


def router(id, mode="interior"):
    return ROUTER.format(id=id, mode=mode)


def listener(port, role=None, key="host"):
    return LISTENER.format(port=port, key=key, role=f"    role: {role}\n" if role else "")


def connector(name, port, role, key="addr", more=""):
    return CONNECTOR.format(name=name, port=port, role=role, key=key, more=more)


def waypoint(queue, connection=None):
    """The address of a queue, and auto-links in both directions if there is a connection."""
    section = f"address {{\n    prefix: {queue}\n    waypoint: yes\n}}\n"
    if connection:
        section += "".join(auto_link(queue, connection, direction) for direction in ("in", "out"))
    return section


def auto_link(queue, connection, direction):
    return f"autoLink {{\n    addr: {queue}\n    connection: {connection}\n    dir: {direction}\n}}\n"


def link_route(prefix, connection, direction):
    return f"linkRoute {{\n    prefix: {prefix}\n    connection: {connection}\n    dir: {direction}\n}}\n"


class Triangle:
    """Routers A, B and C: A connects to both others. `more`: further sections of each, by letter."""

    def __init__(self, folder, more, connected=("AB", "AC")):
        self.folder = folder
        self.routers = {}
        self.ports = {letter: free_port() for letter in "ABC"}
        inner = {letter: free_port() for letter in "BC"}
        for letter in "BCA":
            text = router(f"Router.{letter}") + listener(self.ports[letter])
            if letter in inner:
                text += listener(inner[letter], "inter-router", key="addr")
            for pair in connected:
                if pair[0] == letter:
                    text += connector(f"INTER_ROUTER_{pair[1]}", inner[pair[1]], "inter-router")
            self.start(letter, text + more.get(letter, ""))

    def start(self, letter, text):
        home = self.folder / letter
        home.mkdir()
        self.routers[letter] = Configured(home, text, self.ports[letter]).start()

    def __getitem__(self, letter):
        return self.routers[letter]

    def stop(self):
        for router in self.routers.values():
            if router.is_running():
                assert router.stop() == 0

"""The command line tools under test, and the tables that they print."""

import json
import re
import subprocess

from .router import PATIENCE, program


def run(tool, router, *arguments, text=None):
    """Runs a tool against a router, with `text` on its standard input; gives what it prints, and fails if it fails."""
    command = [program(tool), "-b", f"127.0.0.1:{router.port}", "--timeout", str(PATIENCE), *arguments]
    done = subprocess.run(command, input=text or "", capture_output=True, text=True, timeout=PATIENCE * 3)
    assert done.returncode == 0, f"{' '.join(command)}: {done.returncode}\n{done.stdout}{done.stderr}"
    return done.stdout


def qdmanage(router, *arguments, text=None):
    """What `qdmanage` prints, which is JSON or nothing."""
    told = run("qdmanage", router, *arguments, text=text)
    return json.loads(told) if told.strip() else None


def qdstat(router, *arguments):
    """The table that `qdstat` prints."""
    return Table(run("qdstat", router, *arguments))


class Table:
    """A table of `qdstat`: its title, the names of its columns, and its rows as dictionaries of texts."""

    def __init__(self, text):
        self.text = text
        lines = text.rstrip("\n").splitlines()
        rule = next(at for at, line in enumerate(lines) if line.strip() and set(line.strip()) == {"="})
        heads = list(re.finditer(r"\S+(?: \S+)*", lines[rule - 1]))
        starts = [head.start() for head in heads]
        self.title = lines[rule - 2].strip()
        self.columns = [head.group() for head in heads]
        self.rows = []
        for line in lines[rule + 1 :]:
            if not line.strip():
                break
            ends = [*starts[1:], max(len(line), starts[-1]) + 1]
            self.rows.append({name: line[start:end].strip() for name, start, end in zip(self.columns, starts, ends)})

    def where(self, **wanted):
        """The rows that have these texts in these columns; spaces in names of columns are written `_`."""
        wanted = {name.replace("_", " "): text for name, text in wanted.items()}
        return [row for row in self.rows if all(row[name] == text for name, text in wanted.items())]

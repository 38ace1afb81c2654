"""What a power failure can leave of a recorded commit.

Only two things are promised by a disk: the content of a file before its last fsync, and the names
in a directory before its last fsync. Of what came after them, anything may have happened, in any
order: sectors of a file are there, zero, or garbage; the file is cut; of the names made, renamed
and removed since, some are there and others not; a renamed file has both names.
"""

SECTOR_BYTES = 512


class File:
    def __init__(self, content=b""):
        self.content = content
        self.durable = content  # since the last fsync

    def after_crash(self, random):
        if self.content == self.durable or random.random() < 0.25:
            return self.durable if random.random() < 0.5 else self.content
        size = random.choice((len(self.content), random.randrange(len(self.content) + 1)))
        sectors = [self.content[at:at + SECTOR_BYTES] for at in range(0, size, SECTOR_BYTES)]
        whole = [random.choice((sector, bytes(len(sector)), random.randbytes(len(sector))))
                 for sector in sectors]
        return b"".join(whole)[:size]


class Directory:
    """The names in checkpoints/, as of the last fsync, and the changes since."""

    def __init__(self, run):
        files = (run / "checkpoints").iterdir()
        self.durable = {path.name: File(path.read_bytes()) for path in files}
        self.changes = []  # each: a list of (name, file or None)

    def now(self):
        return self.applied(self.changes)

    def applied(self, changes):
        names = dict(self.durable)
        for change in changes:
            for name, file in change:
                names[name] = file
        return {name: file for name, file in names.items() if file is not None}

    def flush(self):
        self.durable, self.changes = self.now(), []

    def after_crash(self, random):
        """Name -> content."""
        chosen = []
        for change in self.changes:
            kept = random.choice((change, change[:1], []))
            chosen.append(kept)
        return {name: file.after_crash(random) for name, file in self.applied(chosen).items()}


def replay(directory, call):
    """Applies one recorded call."""
    name = call.paths[-1].rsplit("/", 1)[-1]
    if call.result < 0:
        return
    if call.name == "openat" and name.startswith(".tmp-"):
        directory.changes.append([(name, File())])
    elif call.name == "fallocate":
        pass  # zeros that a reader cannot tell from lost sectors
    elif call.name == "write":
        directory.now()[name].content += call.strings[0]
    elif call.name == "fsync" and name == "checkpoints":
        directory.flush()
    elif call.name == "fsync":
        directory.now()[name].durable = directory.now()[name].content
    elif call.name == "renameat":
        old = call.paths[0].rsplit("/", 1)[-1]
        directory.changes.append([(name, directory.now()[old]), (old, None)])
    elif call.name == "unlinkat":
        directory.changes.append([(name, None)])


def crash_states(run, calls, random, count):
    """`count` directories (name -> content), spread over the moments between the calls.

    Returns pairs of the number of calls made and the state.
    """
    moments = len(calls) + 1
    states = []
    directory = Directory(run)
    for made in range(moments):
        if made:
            replay(directory, calls[made - 1])
        share = count * (made + 1) // moments - count * made // moments
        states += [(made, directory.after_crash(random)) for _ in range(share)]
    return states

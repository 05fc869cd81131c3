"""Pull requests to parse: made up, large, and the same on every run."""

PARAGRAPH = (
    "This changes how the cache decides what to keep. Entries that were read once and never "
    "again used to push out the ones that every request needs; now an entry has to be read "
    "twice before it may stay.\r\n\r\n"
    "<!-- What changed, and why? -->\r\n"
    "- [x] The tests pass\r\n"
    "- [ ] The documentation is up to date\r\n"
    "- [x] The change log has a line about it\r\n\r\n"
)
TITLE = "cache:  keep what is read\ttwice,   drop what is read once  " * 3


def pull_requests(count):
    """(number, title, body) of `count` pull requests; every fourth fixes no issue."""
    bodies = []
    for kind in range(4):
        closing = f"Fixes #{1000 + kind}" if kind else "Nothing is known to be wrong."
        bodies.append(PARAGRAPH * 16 + closing + "\r\n" + PARAGRAPH * 2)
    for number in range(count):
        yield number, TITLE, bodies[number % len(bodies)]

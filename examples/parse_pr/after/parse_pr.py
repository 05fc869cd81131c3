#!/usr/bin/python3
"""Read pull requests: which issue does each fix, what is still to be done, what is it called?

A program to profile. Its sister folder holds the same program before a change; `make demo`
records both and shows what the change did to each function.
"""

import json
import re
import sys
from dataclasses import dataclass

from bodies import pull_requests

FIXED = re.compile(r"(?:fixes|closes|resolves) #(\d+)", re.IGNORECASE)
EVENTS = []


@dataclass
class PullRequest:
    number: int
    title: str
    issue: int | None
    done: int
    open: int


def send_event(event):
    """Hand an event to the collector: one line of JSON."""
    EVENTS.append(json.dumps(event, sort_keys=True))
    if len(EVENTS) > 1000:
        EVENTS.clear()


def log_metrics(name, text):
    """Report the size and the shape of a text that was parsed."""
    words = text.split()
    longest = max(map(len, words), default=0)
    send_event({"name": name, "bytes": len(text), "words": len(words), "longest": longest})


def modify_title(title):
    """Write the area before the colon in capitals, so that lists sort by it."""
    area, colon, rest = title.partition(":")
    if not colon:
        return title
    words = [word.capitalize() if word.islower() else word for word in rest.split(" ")]
    return area.upper() + colon + " ".join(words)


def parse_title(title):
    """The title in one line, without control characters and repeated spaces."""
    clean = " ".join(title.split())
    log_metrics("title", clean)
    return modify_title(clean)


def parse_issue_fixed(body):
    """The number behind "fixes #" and its like, wherever it stands in the body."""
    match = FIXED.search(body)
    return int(match[1]) if match else None


def count_boxes(body):
    """How many boxes of the check list are ticked, and how many are not."""
    done = unticked = 0
    for line in body.splitlines():
        if line.startswith("- [x]"):
            done += 1
        elif line.startswith("- [ ]"):
            unticked += 1
    return done, unticked


def parse_body(body):
    issue = parse_issue_fixed(body)
    done, unticked = count_boxes(body)
    log_metrics("body", body)
    return issue, done, unticked


def prepare_parsing_body(body):
    return parse_body(body.replace("\r\n", "\n"))


def parse_pr(number, title, body):
    title = parse_title(title)
    issue, done, unticked = prepare_parsing_body(body)
    return PullRequest(number, title, issue, done, unticked)


def main():
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else 24000
    fixed = 0
    for number, title, body in pull_requests(rounds):
        if parse_pr(number, title, body).issue is not None:
            fixed += 1
    print(f"{rounds} pull requests, {fixed} of them fix an issue")


if __name__ == "__main__":
    main()

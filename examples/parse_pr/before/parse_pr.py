#!/usr/bin/python3
"""Read pull requests: which issue does each fix, what is still to be done, what is it called?

A program to profile. Its sister folder holds the same program after a change; `make demo`
records both and shows what the change did to each function.
"""

import json
import sys
import unicodedata
from dataclasses import dataclass

from bodies import pull_requests

KEYWORDS = ("fixes #", "closes #", "resolves #")
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


def parse_title(title):
    """The title in one line, without control characters and repeated spaces."""
    clean = ""
    for character in title:
        if unicodedata.category(character) in ("Cc", "Zs"):
            character = " "
        if character == " " and clean.endswith(" "):
            continue
        clean += character
    log_metrics("title", clean)
    return clean.strip()


def parse_issue_fixed(body):
    """The number behind "fixes #" and its like, wherever it stands in the body."""
    for line in body.splitlines():
        lowered = line.lower()
        for keyword in KEYWORDS:
            start = lowered.find(keyword)
            if start == -1:
                continue
            start += len(keyword)
            end = start
            while end < len(line) and line[end].isdigit():
                end += 1
            if end > start:
                return int(line[start:end])
    return None


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


def strip_comments(body):
    """Leave out what the template tells the author: <!-- ... -->."""
    kept = []
    inside = False
    for line in body.splitlines():
        if line.startswith("<!--"):
            inside = True
        if not inside:
            kept.append(line)
        if line.endswith("-->"):
            inside = False
    return "\n".join(kept)


def prepare_parsing_body(body):
    body = body.replace("\r\n", "\n")
    return parse_body(strip_comments(body))


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

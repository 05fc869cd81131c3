# SPDX-License-Identifier: MIT
"""The table: groups of rows, each our figure against one peer's in the same run.

A row's goal is what DESIGN promises; `best` is what the best known tool reached when the goal was
set, on the same machine as the goal. Their ratio is what "wanted" says, and it can be held against
a machine of any speed: met when our figure reaches the goal ("value") or is as many times better
than the peer's as was wanted ("ratio"), "both" when both hold.
"""

from dataclasses import dataclass, field

from measure import Values


def number(value):
    """Three digits that matter, no exponent, thousands apart."""
    if value == float("inf"):
        return "inf"
    size = abs(value)
    if size >= 100 or value == 0:
        return f"{value:,.0f}"
    if size >= 10:
        return f"{value:.1f}"
    return f"{value:.2f}" if size >= 1 else f"{value:.3f}"


def spread(values):
    """median (min-max)"""
    if values is None:
        return "-"
    if values.low == values.high:
        return number(values.median)
    dash = " to " if values.low < 0 else "-"
    return f"{number(values.median)} ({number(values.low)}{dash}{number(values.high)})"


@dataclass
class Row:
    name: str
    ours: Values = None
    peer: str = ""          # its name, "" when there is none
    theirs: Values = None
    goal: float = None
    best: float = None      # known when the goal was set
    more: bool = False      # more is better
    note: str = ""

    def ratio(self):
        """How many times better ours is, round by round."""
        if self.ours is None or self.theirs is None:
            return None
        return self.ours.over(self.theirs) if self.more else self.theirs.over(self.ours)

    def wanted(self):
        if self.goal is None or self.best is None:
            return None
        return self.goal / self.best if self.more else self.best / self.goal

    def met(self):
        if self.goal is None or self.ours is None:
            return ""
        value = self.ours.median >= self.goal if self.more else self.ours.median <= self.goal
        ratio = self.ratio()
        if ratio is None or self.wanted() is None:
            return "value" if value else "NO"
        better = ratio.median >= self.wanted()
        return {(True, True): "both", (True, False): "value", (False, True): "ratio",
                (False, False): "NO"}[value, better]

    def cells(self):
        goal = "" if self.goal is None else (">= " if self.more else "<= ") + number(self.goal)
        ratio, wanted = self.ratio(), self.wanted()
        return [self.name, goal, spread(self.ours),
                f"{self.peer} {spread(self.theirs)}" if self.peer else "",
                spread(ratio) if ratio else "", number(wanted) if wanted else "", self.met()]


@dataclass
class Group:
    title: str
    unit: str
    rows: list = field(default_factory=list)
    notes: list = field(default_factory=list)
    others: float = 0.0     # cores that others kept busy meanwhile


HEADS = ["", "goal", "fizeau", "peer", "times better", "wanted", "met"]


def as_text(groups):
    tables = [[row.cells() for row in group.rows] for group in groups]
    widths = [max(len(row[i]) for table in [[HEADS], *tables] for row in table)
              for i in range(len(HEADS))]
    lines = []

    def line(cells, indent="  "):
        lines.append((indent + "  ".join(c.ljust(w) for c, w in zip(cells, widths))).rstrip())

    line(HEADS)
    for group, table in zip(groups, tables):
        lines.append("")
        lines.append(f"{group.title} [{group.unit}]; others used {group.others:.1f} cores")
        for row, cells in zip(group.rows, table):
            line(cells)
            if row.note:
                lines.append(f"      {row.note}")
        lines.extend(f"    {note}" for note in group.notes)
    return "\n".join(lines)


def as_markdown(groups):
    lines = []
    for group in groups:
        lines += [f"### {group.title}", "",
                  f"Unit: {group.unit}. Others used {group.others:.1f} cores meanwhile.", "",
                  "| what | goal | fizeau | peer | times better | wanted | met |",
                  "|---|---|---|---|---|---|---|"]
        for row in group.rows:
            lines.append("| " + " | ".join(row.cells()) + " |")
        notes = [f"{row.name}: {row.note}" for row in group.rows if row.note] + group.notes
        lines += ([""] + [f"- {note}" for note in notes] if notes else []) + [""]
    return "\n".join(lines)

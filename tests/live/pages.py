# SPDX-License-Identifier: MIT
"""Reads the data of a page without its script."""

import base64
import collections
import itertools
import json
import zlib

from wire import varint


class Page:
    """Its header, and its data: columns of LEB128 numbers and of strings."""

    def __init__(self, text):
        header = text.split('id="fz-header">', 1)[1].split("</script>", 1)[0]
        data = text.split('id="fz-data">', 1)[1].split("</script>", 1)[0]
        self.header = json.loads(header)
        self.blob = zlib.decompress(base64.b64decode(data), -15)
        self.columns = {column["name"]: column for column in self.header["columns"]}

    def __getitem__(self, name):
        column = self.columns.get(name)
        if not column:
            return []
        at, values = column["at"], []
        for _ in range(column["n"]):
            value, at = varint(self.blob, at)
            if column["type"] == "s":
                value, at = self.blob[at:at + value].decode(errors="replace"), at + value
            elif column["type"] in "zd":
                value = (value >> 1) ^ -(value & 1)
            values.append(value if column["type"] == "s" else value * column["unit"])
        if column["type"] == "d":
            values = [value + base for value, base in zip(values, self[name.replace(".head", ".base")])]
        return values

    def files(self):
        """The file of each function."""
        return [self["file.name"][file] for file in self["function.file"]]

    def function_lines(self, side):
        """{(file, line): [(own, total) of each function there]}."""
        costs, at = collections.defaultdict(list), 0
        steps, owns, totals = self["line.step"], self[f"line.self.{side}"], self[f"line.total.{side}"]
        for file, n in zip(self.files(), self["function.lines"]):
            lines = itertools.accumulate(steps[at:at + n])
            for line, own, total in zip(lines, owns[at:], totals[at:]):
                if own or total:
                    costs[file, line].append((own, total))
            at += n
        return costs

    def lines(self, side):
        """{(file, line): (own, total)}: a total of several functions is that of no sample twice."""
        number, files = ["base", "head"].index(side), self.files()
        shared = {(files[f], line): total for of, f, line, total in
                  zip(*(self[f"shared.{name}"] for name in ("side", "function", "line", "total"))) if of == number}
        found = {}
        for place, costs in self.function_lines(side).items():
            assert (place in shared) == (len(costs) > 1), (place, costs)
            found[place] = sum(own for own, _ in costs), shared.get(place, costs[0][1])
        return found

    def nodes(self):
        """The function of each node, and its depth; -1 and 0 of the whole, the first."""
        callees, last, above, fresh = collections.defaultdict(list), [-1], 0, iter(self["callee.function"])
        functions, depths = [-1], [0]
        for up, place in zip(self["node.up"], self["node.callee"]):
            depth = above + 1 - up
            known = callees[last[depth - 1]]
            if place == 0:
                known.append(next(fresh))
            functions.append(known[place - 1])
            depths.append(depth)
            last[depth:] = [functions[-1]]
            above = depth
        return functions, depths

    def own(self):
        """What each node of a single profile cost by itself."""
        if "cell.node" not in self.columns:
            return [0, *self["node.self.head"]]
        own, at = [0] * (self.header["nodes"] + 1), 1
        for step, cost in zip(self["cell.node"], self["cell.self.head"]):
            at += step
            own[at] += cost
        return own

    def calls(self):
        """[(caller, line, callee, samples' cost, end)] of a single profile, callers first: the calls below
        number i are those up to its end. web/call_lines.js reads them, too."""
        (functions, depths), own, node = self.nodes(), self.own(), []
        for step in self["call.node"]:
            node.append(node[-1] + 1 + step if node else step + 1)
        parts = self["call.self.head"] or [0] * len(node)
        all_of, several = collections.Counter(), collections.Counter(node)
        for at, part in zip(node, parts):
            all_of[at] += part
        costs = [own[at] if several[at] == 1 else own[at] * part // all_of[at] if all_of[at] else 0
                 for at, part in zip(node, parts)]
        parent, last, ends = [], [-1], [len(node)] * len(node)
        for i, at in enumerate(node):
            for gone in last[depths[at]:]:
                ends[gone] = i
            parent.append(last[depths[at] - 1])
            last[depths[at]:] = [i]
        callers = [functions[node[above]] if above >= 0 else -1 for above in parent]
        lines, known = [], {}
        for caller, at, step in zip(callers, node, self["call.line"]):
            lines.append(step + known.get((caller, functions[at]), known.get(caller, 0)))
            known[caller] = known[caller, functions[at]] = lines[-1]
        for i in range(len(node) - 1, 0, -1):
            if parent[i] >= 0:
                costs[parent[i]] += costs[i]
        return [(caller, line, functions[at], cost, end)
                for at, caller, line, cost, end in zip(node, callers, lines, costs, ends)]

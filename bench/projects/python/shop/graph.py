# SPDX-License-Identifier: MIT
import heapq


def grid(size):
    nodes = {}
    for x in range(size):
        for y in range(size):
            near = [(x + 1, y), (x, y + 1), (x - 1, y)]
            nodes[x, y] = [(n, (n[0] * 7 + n[1] * 3) % 5 + 1) for n in near
                           if 0 <= n[0] < size and n[1] < size]
    return nodes


def shortest(nodes, start):
    best = {start: 0}
    queue = [(0, start)]
    while queue:
        length, node = heapq.heappop(queue)
        if length > best[node]:
            continue
        for near, cost in nodes[node]:
            if length + cost < best.get(near, 1 << 30):
                best[near] = length + cost
                heapq.heappush(queue, (length + cost, near))
    return best


def leaves(tree):
    if not tree:
        yield 0
    for branch in tree:
        yield from leaves(branch)


def depth(tree):
    return 1 + max(map(depth, tree), default=0)

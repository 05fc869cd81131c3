# SPDX-License-Identifier: MIT
def export(items):
    return [(item.name, item.cents) for item in items]


def archive(path):
    return f"{path}.old"

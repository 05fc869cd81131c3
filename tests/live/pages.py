# SPDX-License-Identifier: MIT
"""Reads the data of a page without its script."""

import base64
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

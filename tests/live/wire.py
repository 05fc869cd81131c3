# SPDX-License-Identifier: MIT
"""The wire format of protocol buffers, and the LEB128 numbers of pages."""


def varint(data, at):
    """(number, end offset)"""
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def varints(data):
    """All numbers in the data."""
    at = 0
    while at < len(data):
        value, at = varint(data, at)
        yield value


def fields(data):
    """(field, number or bytes) of a message, packed numbers as bytes."""
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        if tag & 7 == 0:
            value, at = varint(data, at)
        elif tag & 7 == 2:
            n, at = varint(data, at)
            value, at = data[at:at + n], at + n
        else:
            n = {1: 8, 5: 4}[tag & 7]
            value, at = int.from_bytes(data[at:at + n], "little"), at + n
        yield tag >> 3, value


def numbers(value):
    """A repeated number, packed or alone."""
    return [value] if isinstance(value, int) else list(varints(value))

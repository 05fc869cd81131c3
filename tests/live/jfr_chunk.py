# SPDX-License-Identifier: MIT
"""Hand-made flight recordings: a chunk of classes, constants and events, with any of the format's encodings of
integers and texts."""

import struct

LONG, INT, BOOLEAN, STRING, SHORT, BYTE, FLOAT = 1001, 1002, 1003, 1004, 1005, 1006, 1007
SYMBOL, CLASS, METHOD, FRAME, TRACE, THREAD, STATE, SAMPLE, TYPE, SETTING = range(1010, 1020)
# name, fields: (name, class, a constant's key?, an array?)
CLASSES = {
    LONG: ("long", ()), INT: ("int", ()), BOOLEAN: ("boolean", ()),
    STRING: ("java.lang.String", ()), SHORT: ("short", ()), BYTE: ("byte", ()), FLOAT: ("float", ()),
    SYMBOL: ("jdk.types.Symbol", (("string", STRING, 0, 0),)),
    CLASS: ("java.lang.Class", (("name", SYMBOL, 1, 0), ("odd", SHORT, 0, 0))),
    METHOD: ("jdk.types.Method", (("type", CLASS, 1, 0), ("name", SYMBOL, 1, 0),
                                  ("descriptor", SYMBOL, 1, 0), ("hidden", BOOLEAN, 0, 0))),
    FRAME: ("jdk.types.StackFrame", (("method", METHOD, 1, 0), ("lineNumber", INT, 0, 0),
                                     ("heat", FLOAT, 0, 0), ("type", TYPE, 1, 0))),
    TRACE: ("jdk.types.StackTrace", (("truncated", BOOLEAN, 0, 0), ("frames", FRAME, 0, 1))),
    THREAD: ("java.lang.Thread", (("osName", STRING, 0, 0), ("osThreadId", LONG, 0, 0),
                                  ("javaName", STRING, 0, 0), ("javaThreadId", LONG, 0, 0))),
    STATE: ("jdk.types.ThreadState", (("name", STRING, 0, 0),)),
    TYPE: ("jdk.types.FrameType", (("description", STRING, 0, 0),)),
    SAMPLE: ("jdk.ExecutionSample", (("startTime", LONG, 0, 0), ("sampledThread", THREAD, 1, 0),
                                     ("stackTrace", TRACE, 1, 0), ("state", STATE, 1, 0))),
    SETTING: ("jdk.ActiveSetting", (("startTime", LONG, 0, 0), ("id", LONG, 0, 0),
                                    ("name", STRING, 0, 0), ("value", STRING, 0, 0))),
}


class Writer:
    """Values as bytes; kind: how texts are written."""

    def __init__(self, packed=True, kind="utf8"):
        self.packed, self.kind = packed, kind

    def number(self, n, width):
        if not self.packed:
            return (n & (1 << 8 * width) - 1).to_bytes(width, "big")
        n &= (1 << 8 * width) - 1
        out = bytearray()
        while n > 0x7f and len(out) < 8:
            out.append(n & 0x7f | 0x80)
            n >>= 7
        return bytes(out) + bytes([n])

    def int(self, n):
        return self.number(n, 4)

    def long(self, n):
        return self.number(n, 8)

    def text(self, s):
        if s is None:
            return b"\0"
        if isinstance(s, int):
            return b"\2" + self.long(s)
        if not s:
            return b"\1"
        if self.kind == "latin1":
            return b"\5" + self.int(len(s)) + s.encode("latin1")
        if self.kind == "utf16":
            units = struct.unpack(f">{len(s.encode('utf-16-be')) // 2}H", s.encode("utf-16-be"))
            return b"\4" + self.int(len(units)) + b"".join(self.number(u, 2) for u in units)
        data = s.encode()
        return b"\3" + self.int(len(data)) + data

    def value(self, type_, v):
        """A value of a class: a tuple of its fields' values."""
        if type_ in (LONG, INT, SHORT):
            return self.number(v, {LONG: 8, INT: 4, SHORT: 2}[type_])
        if type_ in (BOOLEAN, BYTE):
            return bytes([v])
        if type_ == FLOAT:
            return struct.pack(">f", v)
        if type_ == STRING:
            return self.text(v)
        out = b""
        for (_, of, constant, array), item in zip(CLASSES[type_][1], v):
            if array:
                out += self.int(len(item)) + b"".join(self.value(of, i) for i in item)
            else:
                out += self.long(item) if constant else self.value(of, item)
        return out

    def event(self, type_, body):
        for size in range(len(body) + 2, len(body) + 20):
            data = self.int(size) + self.long(type_) + body
            if len(data) == size:
                return data
        raise AssertionError("no size")

    def metadata(self, classes):
        strings = {}

        def at(s):
            return self.int(strings.setdefault(s, len(strings)))

        def element(tag, attributes, children=()):
            return at(tag) + self.int(len(attributes)) + \
                b"".join(at(k) + at(str(v)) for k, v in attributes.items()) + \
                self.int(len(children)) + b"".join(children)

        tree = element("root", {}, [element("metadata", {}, [
            element("class", {"name": name, "id": number}, [
                element("field", {"name": field, "class": of,
                                  **({"constantPool": "true"} if constant else {}),
                                  **({"dimension": 1} if array else {})})
                for field, of, constant, array in fields])
            for number, (name, fields) in classes.items()])])
        body = self.long(0) * 3 + self.int(len(strings)) + b"".join(self.text(s) for s in strings)
        return self.event(0, body + tree)

    def checkpoint(self, pools):
        body = self.long(0) * 3 + b"\0" + self.int(len(pools))
        for type_, values in pools.items():
            body += self.long(type_) + self.int(len(values))
            for key, value in values.items():
                body += self.long(key) + self.value(type_, value)
        return self.event(1, body)

    def chunk(self, pools, events, classes=None, size=None, start=10**18, major=2):
        """events: (class, value). The constants follow them, as in the JVM's files."""
        body = self.metadata(classes or CLASSES)
        body += b"".join(self.event(t, self.value(t, v)) for t, v in events)
        body += self.checkpoint(pools)
        head = struct.pack(">4sHHQQQQQQQI", b"FLR\0", major, 0,
                           68 + len(body) if size is None else size, 0, 68, start, 10**9, 500,
                           1000, int(self.packed))
        return head + body


# Keys: two symbols are texts of the pool of texts.
POOLS = {
    STRING: {1: "a/B", 2: "größe"},
    SYMBOL: {10: (1,), 11: (2,), 12: ("([[ILjava/lang/String;Z)V",), 13: ("run",), 14: ("()V",),
             15: ("app/Main$$Lambda$37+0x00007f1c1c06d890/445051633",), 16: ("poll",), 17: ("()L;",),
             18: ("libc.so.6",), 19: ("[I",), 20: ("sun/GeneratedMethodAccessor12",)},
    CLASS: {30: (10, -1), 31: (15, 5), 32: (18, 6), 33: (19, 7), 34: (20, 8)},
    METHOD: {40: (30, 11, 12, 0), 41: (31, 13, 14, 1), 42: (32, 16, 17, 0), 43: (33, 13, 14, 0),
             44: (34, 13, 14, 0)},
    TRACE: {50: (0, [(40, 7, 0.5, 90), (41, -1, 0, 90)]), 51: (1, [(42, 0, 0, 91), (43, 3, 0, 90)]),
            52: (0, [(44, 9, 0, 90)])},
    THREAD: {60: ("os", 77, "worker", 12), 61: (None, 0, "", 99)},
    STATE: {70: ("STATE_RUNNABLE",), 71: ("STATE_DEFAULT",)},
    TYPE: {90: ("Interpreted",), 91: ("Native",)},
}
EVENTS = [
    (SETTING, (500, SAMPLE, "period", "20 ms")),
    (SAMPLE, (1500, 60, 50, 70)), (SAMPLE, (1000, 60, 51, 70)), (SAMPLE, (2000, 61, 50, 70)),
    (SAMPLE, (2500, 61, 52, 70)), (SAMPLE, (2600, 60, 99, 70)), (SAMPLE, (2700, 60, 0, 70)),
]

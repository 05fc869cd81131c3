# SPDX-License-Identifier: MIT
import io
import json
import logging
import traceback

log = logging.getLogger("shop")
log.addHandler(logging.StreamHandler(io.StringIO()))
log.handlers[0].setFormatter(logging.Formatter("%(filename)s:%(lineno)d %(message)s"))


class Store:
    def __init__(self):
        self.rows = {}
        self.misses = 0

    def put(self, key, value):
        self.rows[key] = value

    def get(self, key):
        try:
            return self.rows[key]
        except KeyError:
            self.misses += 1
            return None

    def dump(self):
        return json.dumps(self.rows, sort_keys=True)

    def load(self, text):
        self.rows = json.loads(text)


def report(error):
    log.warning("failed: %s", error)
    return "".join(traceback.format_exception(error))

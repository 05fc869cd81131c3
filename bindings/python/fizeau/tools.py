# SPDX-License-Identifier: MIT
"""Functions shared by the pytest plug-in, notebooks and middleware."""

import inspect
import re
import subprocess
import types

import fizeau


class NoSample(fizeau.Error):
    """The options of a command select no sample."""


def named(name, call):
    """A function with this name that calls `call`: recordings show it like any other."""
    if inspect.iscoroutinefunction(call):
        async def calls():
            __tracebackhide__ = True
            return await call()
    else:
        def calls():
            __tracebackhide__ = True
            return call()
    code = calls.__code__.replace(co_name=name)
    if hasattr(code, "co_qualname"):
        code = code.replace(co_qualname=name)
    return types.FunctionType(code, globals(), name, None, calls.__closure__)


def literal(text):
    """An extended regular expression that matches the text."""
    return re.sub(r"([][.{}()*+?^$|\\])", r"\\\1", text)


def run(*command):
    """The output of a fizeau command; raises fizeau.Error with its message."""
    done = subprocess.run([fizeau.program(), *map(str, command)], stdin=subprocess.DEVNULL, capture_output=True,
                          text=True)
    if done.returncode:
        kind = NoSample if done.returncode == 3 else fizeau.Error
        raise kind(done.stderr.strip().rpartition("fizeau: ")[2] or f"status {done.returncode}")
    return done.stdout


def run_below(name, *command):
    """The output of a fizeau command on stacks that begin at function `name`; None if no sample is in it."""
    try:
        return run(*command, "--root", f"^{literal(name)}$")
    except NoSample:
        return None

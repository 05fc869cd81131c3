# SPDX-License-Identifier: MIT
"""For programs that a test records: they work until the recorder has evidently looked at them.

No length of time is enough for that on a machine whose time others take."""

# Python's, put before a program. A recorder sleeps before each look, so the system counts its looks.
UNTIL_SAMPLED = '''\
import os
def looks(recorder):
    """Of its thread that looks most often."""
    found = [0]
    try:
        for task in os.listdir(f"/proc/{recorder}/task"):
            with open(f"/proc/{recorder}/task/{task}/status") as file:
                said = dict(line.rstrip().split(":", 1) for line in file)
            if said["State"].startswith("\\tZ"):
                return float("inf")  # it ended, and nobody waited for it
            found.append(int(said["voluntary_ctxt_switches"]))
    except OSError:
        return float("inf")
    return max(found)
def recorders():
    """The processes that this one started."""
    found = []
    for task in os.listdir("/proc/self/task"):
        try:
            with open(f"/proc/self/task/{task}/children") as file:
                found += file.read().split()
        except OSError:
            pass  # a thread that ended
    return found
def until_sampled(work, by=None, times=100):
    """Work until each recorder, or the processes `by`, looked so often more."""
    enough = {pid: looks(pid) + times for pid in by or recorders()}
    work()
    while any(looks(pid) < n for pid, n in enough.items()):
        work()
'''


def looks(recorder):
    """The same, for the test itself."""
    scope = {}
    exec(UNTIL_SAMPLED, scope)
    return scope["looks"](recorder)

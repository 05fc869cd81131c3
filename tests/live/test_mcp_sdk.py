#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""The official clients of the Model Context Protocol against fizeau mcp. They check every message that
comes against the protocol's schemas.

The packages are those of tests/mcp/package-lock.json, fetched once.
"""

import json
import subprocess

from livelib import FIZEAU, SOURCE, Suite, npm_node, npm_packages
from test_mcp import environment, project, worktrees

suite = Suite()

PACKAGES = SOURCE / "tests" / "mcp"
SDK, CLIENT = "@modelcontextprotocol/sdk", "@modelcontextprotocol/client"


def need_packages():
    npm_packages(PACKAGES, SDK, CLIENT, "node-linux-*")


def drive(kind, folder):
    done = subprocess.run([npm_node(PACKAGES), "client.mjs", kind, FIZEAU, str(folder)], cwd=PACKAGES,
                          capture_output=True, text=True, timeout=120, env=environment(folder))
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def check(seen):
    assert seen["server"]["name"] == "fizeau" and "verify" in seen["instructions"], seen
    assert [tool["name"] for tool in seen["tools"]] == ["changes", "where", "verify", "compare", "calls", "summary",
                                                        "list_recordings"], seen["tools"]
    assert "of: d1" in seen["changes"]["content"][0]["text"], seen["changes"]
    assert seen["structured"]["structuredContent"]["of"] == "d1", seen["structured"]
    assert seen["unknown"]["code"] == -32602 and seen["wrong"]["isError"] is True, seen
    assert seen["steps"][0]["progress"] == 1 and seen["cancelled"] is not None, seen
    assert seen["after"]["content"][0]["text"].startswith("claim: cannot tell\n"), seen["after"]
    assert seen["errors"] == [], seen["errors"]


@suite.test("the client of @modelcontextprotocol/sdk, which sends initialize")
def check_sdk():
    need_packages()
    with project() as folder:
        seen = drive("sdk", folder)
        check(seen)
        assert seen["ping"] == {} and worktrees(folder) == 1


@suite.test("that of @modelcontextprotocol/client, with self-contained requests")
def check_client():
    need_packages()
    with project() as folder:
        check(drive("client", folder))
        assert worktrees(folder) == 1


if __name__ == "__main__":
    suite.main()

#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""bindings/ci: the steps of the GitHub Action and of the GitLab job, run as their runners run them, in
scratch clones, with a server of our own in place of the services' interfaces.

Also checked: one comment is replaced, never a second one added; a pull request from a fork, whose token is
read-only, gets its report printed.
"""

import http.server
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import urllib.parse

import test_ci
from livelib import FIZEAU, SOURCE, Skip, Suite

try:
    import yaml
except ImportError:
    yaml = None

suite = Suite()

CI = SOURCE / "bindings" / "ci"
TOKEN = "t0ken"
BOT = "github-actions[bot]"
GITHUB_LIMIT = 65536  # characters of a comment
SUMMARY_LIMIT = 1 << 20


class Service(http.server.ThreadingHTTPServer):
    """The part of the GitHub and GitLab APIs that comments need."""

    def __init__(self, may_write=True):
        super().__init__(("127.0.0.1", 0), Handler)
        self.may_write = may_write
        self.comments = []
        self.log = []
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server_address[1]}"

    def add(self, body, login="someone"):
        self.comments.append({"id": len(self.comments) + 1, "body": body, "user": {"login": login}})
        return self.comments[-1]


class Handler(http.server.BaseHTTPRequestHandler):
    GITHUB = re.compile(r"/repos/o/r/issues(?:/7/comments|/comments/(\d+))")
    GITLAB = re.compile(r"/projects/5/merge_requests/7/notes(?:/(\d+))?")

    def answer(self, status, value):
        text = json.dumps(value).encode()
        self.send_response(status)
        self.send_header("Content-Length", str(len(text)))
        self.end_headers()
        self.wfile.write(text)

    def handle_request(self):
        service, url = self.server, urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        github, gitlab = self.GITHUB.fullmatch(url.path), self.GITLAB.fullmatch(url.path)
        key = self.headers.get("Authorization") if github else self.headers.get("PRIVATE-TOKEN")
        service.log.append(self.command)
        if not github and not gitlab:
            return self.answer(404, {"message": "Not Found"})
        if key != (f"Bearer {TOKEN}" if github else TOKEN):
            return self.answer(401, {"message": "Bad credentials"})
        if self.command == "GET":
            size, page = int(query.get("per_page", 30)), int(query.get("page", 1))
            return self.answer(200, service.comments[(page - 1) * size:page * size])
        if not service.may_write:
            return self.answer(403, {"message": "Resource not accessible by integration"})
        text = json.loads(body)["body"]
        if len(text) > GITHUB_LIMIT:
            return self.answer(422, {"message": "body is too long"})
        number = (github or gitlab)[1]
        if self.command == "POST" and not number:
            return self.answer(201, service.add(text, BOT))
        if self.command == ("PATCH" if github else "PUT") and number:
            service.comments[int(number) - 1]["body"] = text
            return self.answer(200, service.comments[int(number) - 1])
        return self.answer(405, {})

    do_GET = do_POST = do_PATCH = do_PUT = handle_request

    def log_message(self, *_):
        pass


def bare_environment():
    """The environment without variables of a service."""
    return {k: v for k, v in os.environ.items()
            if not k.startswith(("GITHUB_", "CI", "FIZEAU", "RUNNER_"))}


# ---- GitHub's runner ----


class Runner:
    """Runs a composite action: the expressions that this one uses, `run` steps in bash, outputs, `if`."""

    def __init__(self, scratch, workspace, service, inputs):
        self.action = yaml.safe_load((CI / "github" / "action.yml").read_text())
        self.workspace = workspace
        self.inputs = {name: str(inputs.get(name, spec.get("default", "")))
                       for name, spec in self.action["inputs"].items()}
        assert not set(inputs) - set(self.inputs), inputs
        missing = [n for n, s in self.action["inputs"].items() if s.get("required") and n not in inputs]
        assert not missing, missing
        self.temp = pathlib.Path(scratch, "temp")
        self.temp.mkdir(exist_ok=True)
        self.summary = self.temp / "summary.md"
        event = self.temp / "event.json"
        event.write_text(json.dumps({"pull_request": {"number": 7}}))
        self.github = {"token": TOKEN, "server_url": "https://github.example", "repository": "o/r",
                       "run_id": "99", "sha": "0123abc"}
        self.outputs = {}
        self.kept, self.cached = [], []
        self.text = ""
        self.env = dict(bare_environment(), CI="true", GITHUB_ACTIONS="true",
                        GITHUB_ACTION_PATH=str(CI / "github"), GITHUB_API_URL=service.url,
                        GITHUB_REPOSITORY="o/r", GITHUB_EVENT_PATH=str(event),
                        GITHUB_STEP_SUMMARY=str(self.summary), GITHUB_BASE_REF="main",
                        GITHUB_WORKSPACE=str(workspace), RUNNER_TEMP=str(self.temp),
                        XDG_CACHE_HOME=str(self.temp / "cache"), FIZEAU_RETRY_SECONDS="0")
        self.inputs = {name: self.expand(text) for name, text in self.inputs.items()}

    def value(self, expression):
        names = {"inputs": self.inputs, "github": self.github, "steps": self.outputs}
        compared = re.fullmatch(r"(\S+) (!=|==) '(\w*)'", expression)
        if compared:
            equal = self.value(compared[1]) == compared[3]
            return equal == (compared[2] == "==")
        kind, *path = expression.split(".")
        assert kind in names, f"the test knows no {expression}"
        if kind == "steps":
            step, word, name = path
            assert word == "outputs", expression
            return names[kind].get(step, {}).get(name, "")
        return names[kind][path[0]]

    def expand(self, text):
        whole = re.fullmatch(r"\$\{\{ ([^}]*) \}\}", text)
        if whole:
            return self.value(whole[1])
        return re.sub(r"\$\{\{ ([^}]*) \}\}", lambda m: str(self.value(m[1])), text)

    def step(self, step):
        """The status of a step."""
        if not self.expand(step.get("if", "${{ github.token != '' }}")):
            return 0
        if "uses" in step:
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+", step["uses"]), step["uses"]
            given = {k: self.expand(v) for k, v in step["with"].items()}
            (self.kept if "upload" in step["uses"] else self.cached).append(given)
            return 0
        assert step["shell"] == "bash" and "${{" not in step["run"], "text of users in a script"
        script, outputs = self.temp / "step.sh", self.temp / "outputs"
        script.write_text(step["run"])
        outputs.write_text("")
        env = {k: self.expand(v) for k, v in step.get("env", {}).items()}
        done = subprocess.run(["bash", "--noprofile", "--norc", "-eo", "pipefail", script],
                              cwd=self.workspace / self.expand(step.get("working-directory", ".")),
                              env=dict(self.env, GITHUB_OUTPUT=str(outputs), **env), text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=300)
        self.text += done.stdout
        self.outputs[step.get("id", "")] = dict(line.split("=", 1)
                                                for line in outputs.read_text().splitlines())
        return done.returncode

    def run(self):
        """The status of the job; steps after a failed one are skipped."""
        for step in self.action["runs"]["steps"]:
            status = self.step(step)
            if status:
                return status
        return 0

    def output(self, name):
        return self.expand(self.action["outputs"][name]["value"])


def need_everything():
    if not yaml:
        raise Skip("python3-yaml is not installed")
    need_programs()
    test_ci.need_tool()


def need_programs():
    for program in ("curl", "jq", "bash"):
        if not shutil.which(program):
            raise Skip(f"{program} is not installed")


def clone():
    """A clone as services make it for a pull request: the change is checked out, its target branch is only known
    by its remote name."""
    origin = test_ci.loops(300, 300, FIRST=450)
    path = pathlib.Path(origin.scratch.name, "clone")
    subprocess.run(["git", "clone", "-q", origin.path, path], check=True)
    return origin, path


def action(origin, path, service, **inputs):
    inputs = {name.replace("_", "-"): value for name, value in inputs.items()}
    return Runner(origin.scratch.name, path, service,
                  dict({"fizeau": FIZEAU, "options": "--no-wall --others 0", "run": "sh loops.sh"}, **inputs))


@suite.test("GitHub: a comment is made, then replaced; summary, annotations, report, status")
def check_action():
    need_everything()
    origin, path = clone()
    with Service() as service:
        for _ in range(120):
            service.add("text of others")
        service.add("<!-- fizeau ci -->\nof somebody who is not us", "someone")
        job = action(origin, path, service)
        status = job.run()
        assert status == 1 and job.output("status") == "1", (status, job.text)
        report = pathlib.Path(job.output("report"))
        assert [kept["path"] for kept in job.kept] == [str(report)] and job.kept[0]["name"] == "fizeau"
        (cached,) = job.cached
        assert cached["key"].startswith(cached["restore-keys"]) and cached["key"].endswith("0123abc"), cached
        assert cached["path"] == "~/.cache/fizeau/baselines" and any(
            (job.temp / "cache/fizeau/baselines").rglob("*")), cached
        names = {"report.html", "report.json", "junit.xml", "badge.svg", "comment.md", "status"}
        assert names <= {f.name for f in report.iterdir()}, list(report.iterdir())
        assert service.log == ["GET", "GET", "POST"] and len(service.comments) == 122, service.log
        first = service.comments[-1]["body"]
        assert first.startswith("<!-- fizeau ci -->\n### Merging this makes <code>first</code> 50.0&nbsp;% slower"), first
        assert "\n\nPerformance regression: 1 slower, 1 same.\n" in first, first
        assert "(https://github.example/o/r/actions/runs/99#artifacts)" in first, first
        assert job.summary.read_text() == report.joinpath("comment.md").read_text() == first
        assert job.summary.stat().st_size < SUMMARY_LIMIT
        assert re.search(r"^::error .*title=slower", job.text, re.M), job.text
        assert not subprocess.run(["git", "status", "--porcelain"], cwd=path, capture_output=True,
                                  text=True, check=True).stdout

        # Accepted: the same comment reports it, and the job passes.
        path.joinpath("fizeau.ini").write_text("[accept *]\nchange = 90 %\nreason = is `clear`\n")
        job = action(origin, path, service, run="true && sh loops.sh")
        assert job.run() == 0 and job.output("status") == "0", job.text
        assert len(service.comments) == 122 and service.log[3:] == ["GET", "GET", "PATCH"], service.log
        assert "No performance regression" in service.comments[-1]["body"]


LOOP = ("test -e /.fizeau/start/loop; i=0; while [ $i -lt 500 ]; do i=$((i+1)); done; "
        "test -e /.fizeau/stop/loop; true")


@suite.test("GitHub: jobs that measure one part each make one comment and one status")
def check_parts():
    need_everything()
    origin, path = clone()
    with Service() as service:
        jobs = [action(origin, path, service, run=run, name=f"-{i}", comment="never", fail="false")
                for i, run in enumerate(("sh loops.sh", LOOP, "/nowhere/no-program"))]
        assert [job.run() for job in jobs] == [0, 0, 0] and not service.comments, [j.text for j in jobs]
        assert [job.output("status") for job in jobs] == ["1", "0", "2"]
        parts = pathlib.Path(origin.scratch.name, "parts")
        for job in jobs:
            shutil.copytree(job.output("report"), parts / job.kept[0]["name"])
        # In another checkout of the same, where nothing was measured.
        job = action(origin, path, service, run="", merge=f"{parts}/*-[01]")
        assert job.run() == 1 and job.output("status") == "1", job.text
        comment = service.comments[-1]["body"]
        assert "1 slower, 2 same" in comment and "<code>loop</code>" in comment, comment
        # A part that failed is reported.
        job = action(origin, path, service, run="", merge=f"{parts}/*")
        assert job.run() == 2 and len(service.comments) == 1, job.text
        assert "no report of this job" in service.comments[-1]["body"], service.comments


@suite.test("GitHub: a merge checked out without history is compared with the tip it merges")
def check_merge_ref():
    need_everything()
    origin, _ = clone()
    # Meanwhile the branch that it goes into went on.
    origin.git("checkout", "-q", "main")
    origin.commit(other__py="x = 1\n")
    tip = origin.git("rev-parse", "HEAD")
    origin.git("checkout", "-qb", "merged")
    origin.git("merge", "-q", "--no-ff", "-m", "merge", "change")
    path = pathlib.Path(origin.scratch.name, "shallow")
    subprocess.run(["git", "clone", "-q", "--depth", "1", "--branch", "merged", f"file://{origin.path}", path],
                   check=True)
    with Service() as service:
        job = action(origin, path, service)
        assert job.run() == 1 and "1 slower, 1 same" in service.comments[-1]["body"], job.text
        assert f"shallow clone: comparing HEAD with {tip[:10]}, which it merges" in job.text, job.text
        # A commit that is not a merge has no base.
        origin.git("checkout", "-q", "change")
        lonely = path.with_name("lonely")
        subprocess.run(["git", "clone", "-q", "--depth", "1", f"file://{origin.path}", lonely], check=True)
        job = action(origin, lonely, service)
        assert job.run() == 2 and "shallow clone" in job.text, job.text


@suite.test("GitHub: errors replace the comment; fail: false")
def check_action_trouble():
    need_everything()
    origin, path = clone()
    with Service() as service:
        job = action(origin, path, service, run="false <x> `whoami`", fail="false", setup="")
        assert job.run() == 0 and job.output("status") == "2", job.text
        body = service.comments[-1]["body"]
        assert body.startswith("<!-- fizeau ci -->\n### Performance could not be judged"), body
        assert "\n    fizeau: ci: " in body and body in job.summary.read_text(), body
        job = action(origin, path, service, run="false", setup="exit 3")
        assert job.run() == 2 and len(service.comments) == 1, job.text
        assert "cannot build" in service.comments[0]["body"], service.comments


@suite.test("GitLab: the job's script, the note, the report it stores")
def check_gitlab():
    need_everything()
    origin, path = clone()
    job = yaml.safe_load((CI / "gitlab" / "fizeau.yml").read_text())[".fizeau"]
    subprocess.run(["git", "branch", "-qrd", "origin/main", "origin/HEAD"], cwd=path, check=True)
    (kept,) = job["cache"]["paths"]
    path.joinpath(kept, "of an earlier job").mkdir(parents=True)
    path.joinpath(kept, "of an earlier job", "0.fz").touch()
    with Service() as service:
        given = {"CI_PROJECT_DIR": str(path), "CI_DEFAULT_BRANCH": "main", "CI_PROJECT_ID": "5",
                 "CI_MERGE_REQUEST_IID": "7", "CI_MERGE_REQUEST_TARGET_BRANCH_NAME": "main",
                 "CI_API_V4_URL": service.url, "CI_JOB_URL": "https://gitlab.example/o/r/-/jobs/3"}
        own = {"FIZEAU_RUN": "sh loops.sh", "FIZEAU_TOKEN": TOKEN,
               "FIZEAU_OPTIONS": "--no-wall --others 0", "FIZEAU_SCRIPTS": str(CI)}
        env = dict(bare_environment(), CI="true", GITLAB_CI="true", FIZEAU=FIZEAU,
                   XDG_CACHE_HOME=os.path.join(origin.scratch.name, "cache"))
        for name, value in {**given, **job["variables"], **own}.items():
            env[name] = re.sub(r"\$(\w+)", lambda m: given.get(m[1], ""), value)
        for expected in (["GET", "POST"], ["GET", "PUT"]):
            service.log.clear()
            # The runner joins the lines into one script for the shell of the image.
            done = subprocess.run(["sh", "-e", "-c", "\n".join(job["script"])], cwd=path, env=env,
                                  text=True, capture_output=True, timeout=300)
            assert done.returncode == 1, (done.stdout, done.stderr)
            assert service.log == expected and len(service.comments) == 1, (service.log, done)
        body = service.comments[0]["body"]
        assert "/-/jobs/3/artifacts/file/fizeau-report/report.html)" in body, body
    head = subprocess.run(["git", "rev-parse", "HEAD"], cwd=path, check=True, capture_output=True, text=True).stdout
    assert path.joinpath(kept, head.strip()).is_dir(), "nothing for the next job"
    for name in [*job["artifacts"]["paths"], job["artifacts"]["reports"]["junit"]]:
        assert path.joinpath(name).exists(), name


# ---- the comment alone ----


class Folder:
    """The output of fizeau ci, and the job's surroundings."""

    def __init__(self, service, text="<!-- fizeau ci -->\n### \"quoted\" \\ ünïcode\n", verdict="slower"):
        self.scratch = tempfile.TemporaryDirectory(prefix="fz-comment-")
        self.path = pathlib.Path(self.scratch.name)
        self.path.joinpath("comment.md").write_text(text)
        self.path.joinpath("report.json").write_text(json.dumps(
            {"exit": 0, "troubles": [], "benchmarks": [{"verdict": "same"}, {"verdict": verdict}]}))
        self.path.joinpath("event.json").write_text(json.dumps({"pull_request": {"number": 7}}))
        self.text = text
        self.env = dict(bare_environment(), GITHUB_REPOSITORY="o/r", GITHUB_API_URL=service.url,
                        GITHUB_EVENT_PATH=str(self.path / "event.json"), FIZEAU_TOKEN=TOKEN,
                        FIZEAU_RETRY_SECONDS="0")

    def comment(self, **env):
        done = subprocess.run([CI / "comment", self.path], env=dict(self.env, **env), text=True,
                              capture_output=True, timeout=60)
        assert done.returncode == 0, done
        return done.stdout


@suite.test("a read-only token, none, or a push: the text is printed")
def check_fork():
    need_programs()
    with Service(may_write=False) as service:
        folder = Folder(service)
        for why, env in (("may not comment (HTTP 403)", {}),
                         ("may not read comments (HTTP 401)", {"FIZEAU_TOKEN": "wrong"}),
                         ("there is no token", {"FIZEAU_TOKEN": ""}),
                         ("the token may only contain", {"FIZEAU_TOKEN": 'x"\noutput = x'}),
                         ("HTTP 000", {"GITHUB_API_URL": "http://127.0.0.1:1"}),
                         ("neither GitHub nor GitLab", {"GITHUB_REPOSITORY": ""})):
            out = folder.comment(**env)
            assert why in out and out.endswith(folder.text), (why, out)
            assert TOKEN not in out
        service.add(folder.text, BOT)
        assert "may not change its comment" in folder.comment()
        folder.path.joinpath("event.json").write_text("{}")
        assert "not for a pull request" in folder.comment()
        assert len(service.comments) == 1


@suite.test("comments on change only; several jobs on one request; never")
def check_when():
    need_programs()
    with Service() as service:
        same, slower = Folder(service, verdict="same"), Folder(service)
        assert "nothing changed" in same.comment(FIZEAU_WHEN="change")
        assert "fizeau: commented" in slower.comment(FIZEAU_WHEN="change")
        assert "up to date" in same.comment(FIZEAU_WHEN="change")
        assert service.comments[0]["body"] == slower.text
        assert "fizeau: commented" in slower.comment(FIZEAU_NAME="the --> other")
        assert service.comments[1]["body"].startswith("<!-- fizeau ci the  other -->\n### \"quoted\"")
        assert "comment 2 was" in slower.comment(FIZEAU_NAME="the --> other")
        assert "comment 1 was" in slower.comment()
        asked = len(service.log)
        assert slower.comment(FIZEAU_WHEN="never") == slower.text and len(service.log) == asked
        service.comments[0]["user"]["login"] = "a person's own token"
        assert "comment 1 was" in slower.comment(FIZEAU_AUTHOR="*")
        assert len(service.comments) == 2


@suite.test("a comment that is too long is printed, not cut")
def check_size():
    need_programs()
    with Service() as service:
        folder = Folder(service, "<!-- fizeau ci -->\n" + "x" * GITHUB_LIMIT)
        out = folder.comment()
        assert "HTTP 422" in out and out.endswith(folder.text) and not service.comments
        folder = Folder(service, "<!-- fizeau ci -->\n" + "x" * (GITHUB_LIMIT - 19))
        folder.comment()
        assert len(service.comments[0]["body"]) == GITHUB_LIMIT


if __name__ == "__main__":
    suite.main()

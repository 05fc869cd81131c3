"""ClickHouse for the live tests of a fleet: Debian's unmodified server in a separate folder; chdb, a later version
as a library, with the same HTTP interface; and a proxy that breaks connections."""

import http.server
import pathlib
import shutil
import signal
import socket
import subprocess
import sys
import threading
import urllib.error
import urllib.parse
import urllib.request

from livelib import Skip, fetched_package, wait_until

CONFIG = """<yandex>
<logger><level>error</level><log>{0}/log</log><errorlog>{0}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><http_port>{1}</http_port>
<path>{0}/data/</path><tmp_path>{0}/tmp/</tmp_path><users_config>{0}/users.xml</users_config>
<default_profile>default</default_profile><default_database>default</default_database>
<mark_cache_size>67108864</mark_cache_size>
</yandex>
"""
USERS = """<yandex>
<profiles><default/></profiles><quotas><default/></quotas>
<users><default><password>{0}</password><networks><ip>127.0.0.1</ip></networks>
<profile>default</profile><quota>default</quota></default></users>
</yandex>
"""
CHDB = "chdb-core==26.9.0"


def ask(url, sql, password=""):
    headers = {"X-ClickHouse-User": "default", "X-ClickHouse-Key": password}
    with urllib.request.urlopen(urllib.request.Request(url, sql.encode(), headers), timeout=60) as answer:
        return answer.read().decode()


class ClickHouse:
    """A server that runs until the block ends, unless it is killed and restarted."""

    def __init__(self, folder, password=""):
        if not shutil.which("clickhouse-server"):
            raise Skip("there is no clickhouse-server (Debian: clickhouse-server)")
        self.folder, self.password = pathlib.Path(folder), password
        self.folder.mkdir()
        self.process = None
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        (self.folder / "config.xml").write_text(CONFIG.format(self.folder, self.port), encoding="utf-8")
        (self.folder / "users.xml").write_text(USERS.format(password), encoding="utf-8")

    def is_up(self):
        assert self.process.poll() is None, (self.folder / "errors").read_text(encoding="utf-8")
        try:
            return ask(self.url, "SELECT 1", self.password) == "1\n"
        except urllib.error.URLError:
            return False

    def start(self):
        self.process = subprocess.Popen(["clickhouse-server", f"--config-file={self.folder}/config.xml"],
                                        cwd=self.folder, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        wait_until(self.is_up, "ClickHouse")

    def kill(self):
        self.process.send_signal(signal.SIGKILL)
        self.process.wait(60)

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.kill()

    def ask(self, sql):
        return ask(self.url, sql, self.password)


class Handler(http.server.BaseHTTPRequestHandler):
    def do_POST(self):
        words = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(self.path).query))
        body = self.rfile.read(int(self.headers["Content-Length"]))
        answer = self.server.answer(self.path, words, body)
        if answer is None:
            self.close_connection = True
            return
        self.send_response(answer[0])
        self.send_header("Content-Length", str(len(answer[1])))
        self.end_headers()
        self.wfile.write(answer[1])

    def log_message(self, *_):
        pass


class Between(http.server.ThreadingHTTPServer):
    """Forwards requests until it breaks a connection: at an insertion into a table, before ClickHouse has it or
    before the client has the response. `before`: the beginning of a statement, and what to do once before it."""

    def __init__(self, url):
        super().__init__(("127.0.0.1", 0), Handler)
        self.to, self.table, self.after, self.before = url, None, False, None
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def answer(self, path, words, body):
        breaks = self.table and words.get("query", "").startswith(f"INSERT INTO fizeau_{self.table} ")
        if breaks and not self.after:
            return None
        if self.before and (words.get("query", "") or body.decode()).startswith(self.before[0]):
            todo, self.before = self.before[1], None
            todo()
        try:
            with urllib.request.urlopen(self.to + path, body, timeout=60) as got:
                answer = got.status, got.read()
        except urllib.error.HTTPError as error:
            answer = error.code, error.read()
        return None if breaks else answer

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.shutdown()
        self.server_close()


SHIM = """
import http.server, os, re, sys
sys.path.insert(0, sys.argv[1])
sys.path.insert(0, sys.argv[2])
from chdb import session
from clickhouselib import Handler

class Server(http.server.HTTPServer):
    def answer(self, path, words, body):
        try:
            if words["database"] != "default":
                store.query("USE " + words["database"])
            if "query" in words:
                with open(sys.argv[3] + "/rows", "wb") as file:
                    file.write(body)
                into, _, form = words["query"].rpartition(" FORMAT ")
                store.query(f"{into} FROM INFILE '{sys.argv[3]}/rows' FORMAT {form}")
                return 200, b""
            return 200, store.query(body.decode(), "TabSeparated").bytes() or b""
        except Exception as error:
            print(body[:300] if "query" not in words else words["query"], error, file=sys.stderr, flush=True)
            found = re.search(r"Code: \\d+.*", str(error), re.S)
            return 500, (found[0] if found else str(error)).encode()

store = session.Session(sys.argv[3] + "/data")
server = Server(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
"""


class Chdb:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.folder.mkdir()
        self.place = fetched_package(CHDB)

    def __enter__(self):
        self.errors = open(self.folder / "errors", "w", encoding="utf-8")
        self.process = subprocess.Popen([sys.executable, "-c", SHIM, str(self.place), str(pathlib.Path(__file__).parent),
                                         str(self.folder)], stdout=subprocess.PIPE, stderr=self.errors, text=True)
        port = self.process.stdout.readline().strip()
        assert port, (self.folder / "errors").read_text(encoding="utf-8")
        self.url = f"http://127.0.0.1:{port}"
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait(60)
        self.process.stdout.close()
        self.errors.close()

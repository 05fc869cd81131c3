"""Requests of a local server with sessions, redirects, cookies, forms and files."""
import http.server
import threading
import requests


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self):
        self.rfile.read(int(self.headers.get("Content-Length") or 0))
        moved = self.path.startswith("/move")
        body = b'{"a": [1, 2, 3]}'
        self.send_response(302 if moved else 404 if self.path == "/none" else 200)
        if moved:
            self.send_header("Location", "/there")
        self.send_header("Set-Cookie", "c=1; Path=/")
        self.send_header("Content-Type", "application/json; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    do_GET = do_POST = do_PUT = answer

    def log_message(self, *_):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
threading.Thread(target=server.serve_forever, daemon=True).start()
url = f"http://127.0.0.1:{server.server_port}"
for i in range(25):
    with requests.Session() as s:
        s.trust_env = False
        s.auth = ("u", "p")
        s.headers.update({"X-A": "b"})
        s.get(url + "/a", params={"q": [1, "ü"], "r": i}).json(), s.get(url + "/move").history
        s.post(url, data={"x": 1, "y": ["a", "b"]}), s.post(url, json={"k": i}).raise_for_status()
        s.post(url, files={"f": ("a.txt", b"text" * 50, "text/plain")}), s.cookies.get_dict()
        list(s.get(url, stream=True).iter_lines()), s.get(url, timeout=(2, 3)).text, s.put(url, data=b"x").links
        s.mount(url, requests.adapters.HTTPAdapter(max_retries=2))
        try:
            s.get(url + "/none").raise_for_status()
        except requests.HTTPError as e:
            str(e)
    requests.utils.parse_header_links("<http://a>; rel=next"), requests.utils.requote_uri("http://a/ ü%20")
server.shutdown()

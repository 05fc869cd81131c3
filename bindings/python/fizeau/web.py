# SPDX-License-Identifier: MIT
"""A request with ?fizeau=1 is answered with the page of its recording.

    application = fizeau.web.wsgi(application, allow=lambda environ: ...)     WSGI: Django, Flask, ...
    application = fizeau.web.asgi(application, allow=lambda scope: ...)       ASGI

`allow` decides who may request that: a page shows source code, and recording takes time. If it returns
False the request is handled like any other."""

import os
import tempfile
from urllib.parse import parse_qs

import fizeau
from fizeau.tools import named, run_below

HEADERS = [("Content-Type", "text/html; charset=utf-8"), ("Cache-Control", "no-store")]


def is_asked_for(query):
    return parse_qs(query).get("fizeau", ["0"])[-1] == "1"


class Request:
    """One recorded request; other threads' work is left out of its page."""

    def __init__(self, method, path, options):
        self.name = f"{method} {path}"
        self.folder = tempfile.TemporaryDirectory(prefix="fizeau-")
        self.file = os.path.join(self.folder.name, "request.fz")
        self.recording = fizeau.record(self.file, quiet=True, **options)

    def page(self):
        """Stop the recording; returns the page as bytes."""
        try:
            page = os.path.join(self.folder.name, "page.html")
            if self.recording.stop() is None or run_below(self.name, "replay", self.file, "-o", page) is None:
                return b"<p>the request took less than a sample"
            with open(page, "rb") as file:
                return file.read()
        finally:
            self.folder.cleanup()


def wsgi(application, allow, **options):
    """options: those of fizeau.record."""
    def answer(environ, start_response):
        if not is_asked_for(environ.get("QUERY_STRING", "")) or not allow(environ):
            return application(environ, start_response)

        def whole():
            result = application(environ, lambda *_: lambda _: None)
            try:
                for _ in result:
                    pass
            finally:
                getattr(result, "close", lambda: None)()

        request = Request(environ["REQUEST_METHOD"], environ.get("PATH_INFO", "/"), options)
        try:
            request.recording.start()
            try:
                named(request.name, whole)()
            finally:
                body = request.page()
        except fizeau.Error as error:
            start_response("503 Service Unavailable", [("Content-Type", "text/plain; charset=utf-8")])
            return [f"fizeau: {error}\n".encode()]
        start_response("200 OK", [*HEADERS, ("Content-Length", str(len(body)))])
        return [body]
    return answer


def asgi(application, allow, **options):
    """options: those of fizeau.record. The page does not show waits in the event loop."""
    async def answer(scope, receive, send):
        if scope["type"] != "http" or not is_asked_for(scope["query_string"].decode("latin-1")) \
                or not allow(scope):
            await application(scope, receive, send)
            return
        import asyncio
        loop = asyncio.get_running_loop()

        async def dropped(message):
            pass

        async def whole():
            await application(scope, receive, dropped)

        request = Request(scope["method"], scope["path"], options)
        status, headers = 200, HEADERS
        try:
            await loop.run_in_executor(None, request.recording.start)
            try:
                await named(request.name, whole)()
            finally:
                body = await loop.run_in_executor(None, request.page)
        except fizeau.Error as error:
            status, headers, body = 503, [("Content-Type", "text/plain; charset=utf-8")], f"fizeau: {error}\n".encode()
        await send({"type": "http.response.start", "status": status,
                    "headers": [(name.lower().encode(), value.encode()) for name, value in headers]})
        await send({"type": "http.response.body", "body": body})
    return answer

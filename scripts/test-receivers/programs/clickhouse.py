"""ClickHouse's engine (chdb) behind the part of its HTTP interface that inserts use. For tests, on loopback."""

import gzip
import re
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qsl, urlsplit

from chdb import session

engine = session.Session(sys.argv[2])
lock = threading.Lock()
# As src/Server/HTTP/exceptionCodeToHTTPStatus.cpp has it, of those that occur here.
STATUS = {60: 404, 81: 404, 516: 403, 16: 400, 25: 400, 26: 400, 27: 400, 41: 400, 47: 400, 53: 400, 62: 400, 117: 400}
NAMES = {"database", "query", "default_format"}


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        length = int(self.headers.get("content-length", 0))
        body = self.rfile.read(length)
        if self.headers.get("content-encoding") == "gzip":
            body = gzip.decompress(body)
        parameters = dict(parse_qsl(urlsplit(self.path).query))
        # "writer:pass:word", as the check has it.
        if self.headers.get("authorization") != "Basic d3JpdGVyOnBhc3M6d29yZA==":
            return self.answer(403, b"Code: 516. DB::Exception: Authentication failed. (AUTHENTICATION_FAILED)", 516)
        settings = {name: value for name, value in parameters.items() if name not in NAMES}
        try:
            with lock:
                reply = self.run(parameters, settings, body.decode())
            self.answer(200, reply, None)
        except Exception as error:
            text = str(error)
            found = re.search(r"Code: (\d+)\.", text)
            code = int(found.group(1)) if found else 0
            self.answer(STATUS.get(code, 500), text.encode(), code)

    def run(self, parameters, settings, body):
        if "database" in parameters:
            engine.query("USE `%s`" % parameters["database"])
        query = parameters.get("query", "")
        if settings:
            values = ", ".join("%s = '%s'" % pair for pair in settings.items())
            query = query.replace(" FORMAT ", " SETTINGS %s FORMAT " % values, 1)
        text = (query + "\n" + body) if query else body
        return bytes(engine.query(text, "JSONEachRow").bytes() or b"")

    def do_GET(self):
        self.answer(200, b"Ok.\n", None)

    def answer(self, status, body, code):
        self.send_response(status)
        self.send_header("content-length", str(len(body)))
        if code is not None:
            self.send_header("x-clickhouse-exception-code", str(code))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler).serve_forever()

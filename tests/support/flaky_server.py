# SPDX-License-Identifier: Apache-2.0
"""A web server that knows ranges, and breaks some connections in the middle."""

from __future__ import annotations

import re
import socket
import struct
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any


class Server(ThreadingHTTPServer):
    """Serves a folder. Every `break_every`th answer is broken, and so many are counted.

    How it is broken, `faults` says, one after the other: it is "cut" short; the connection is
    "reset"; the server says nothing more ("stall"); or the answer is an "error".
    """

    daemon_threads = True
    request_queue_size = 128

    def __init__(
        self, root: Path, break_every: int, status: int, faults: Sequence[str] = ("cut",)
    ) -> None:
        super().__init__(("127.0.0.1", 0), lambda *args: Handler(*args, directory=str(root)))
        self.break_every = break_every
        self.status = status
        self.faults = faults
        self.stopping = threading.Event()
        self.lock = threading.Lock()
        self.requests = self.broken = self.ranges = 0

    @property
    def url(self) -> str:
        """Where the folder is."""
        return f"http://127.0.0.1:{self.server_address[1]}"

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Broken connections are what this is about."""


class Handler(SimpleHTTPRequestHandler):
    """Answers one request."""

    server: Server
    protocol_version = "HTTP/1.1"

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""

    def do_GET(self) -> None:
        path = Path(self.translate_path(self.path))
        with self.server.lock:
            self.server.requests += 1
            breaks = self.server.break_every and self.server.requests % self.server.break_every == 0
            self.server.broken += bool(breaks)
            fault = self.server.faults[self.server.broken % len(self.server.faults)]
        if breaks and (self.server.status or fault == "error"):
            self.send_error(self.server.status or 503)
            return
        if breaks and fault == "reset":
            self.reset()
            return
        if not path.is_file():
            super().do_GET()
            return
        content = path.read_bytes()
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", self.headers.get("Range", ""))
        if wanted:
            with self.server.lock:
                self.server.ranges += 1
            begin, end = int(wanted[1]), int(wanted[2] or len(content) - 1) + 1
            self.send_response(206)
            self.send_header("Content-Range", f"bytes {begin}-{end - 1}/{len(content)}")
            content = content[begin:end]
        else:
            self.send_response(200)
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Accept-Ranges", "bytes")
        self.end_headers()
        if breaks:
            self.wfile.write(content[: len(content) // 2])
            self.wfile.flush()
            if fault == "stall":
                self.server.stopping.wait(60)
            self.close_connection = True
            self.connection.close()
        else:
            self.wfile.write(content)

    def reset(self) -> None:
        """Close the connection so that the other side gets an error."""
        linger = struct.pack("ii", 1, 0)
        self.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.close_connection = True
        self.connection.close()


@contextmanager
def serve(
    root: Path, break_every: int = 0, status: int = 0, faults: Sequence[str] = ("cut",)
) -> Iterator[Server]:
    """Serve a folder; instead of breaking off, answers may be the error `status`."""
    with Server(root, break_every, status, faults) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield server
        server.stopping.set()
        server.shutdown()
        thread.join()

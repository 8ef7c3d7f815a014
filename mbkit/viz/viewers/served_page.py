"""A page of HTML served on this machine, until it is closed."""

from __future__ import annotations

import contextlib
import http.server
import threading
from typing import Any, final

from mbkit.errors import UsageError

__all__ = ["ServedPage"]

_TRIED = 20  # ports, from the first on


@final
class ServedPage:
    """A text of HTML at `url`, which this machine alone sees.

    Attributes
    ----------
    url : str
        The address to open in a browser.

    Examples
    --------
    >>> import urllib.request
    >>> page = ServedPage("<p>swing</p>", port=8300)
    >>> urllib.request.urlopen(page.url).read()
    b'<p>swing</p>'
    >>> page.close()
    """

    def __init__(self, text: str, *, port: int = 8080, host: str = "127.0.0.1") -> None:
        content = text.encode()

        class Answer(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                is_page = self.path == "/"
                self.send_response(200 if is_page else 404)
                self.send_header("Content-Type", "text/html; charset=utf-8")
                self.send_header("Content-Length", str(len(content) if is_page else 0))
                self.end_headers()
                if is_page:
                    self.wfile.write(content)

            def log_message(self, *_arguments: Any) -> None:
                """Say nothing of requests."""

        self._server = _server(host, port, Answer)
        self.url = f"http://{host}:{self._server.server_address[1]}"
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()

    def close(self) -> None:
        """End the page."""
        self._server.shutdown()
        self._server.server_close()

    def wait(self) -> None:
        """Wait until the page is closed, or Ctrl-C, which closes it."""
        try:
            self._thread.join()
        except KeyboardInterrupt:
            self.close()


def _server(host: str, port: int, answer: Any) -> http.server.ThreadingHTTPServer:
    """Return a server at the first free port."""
    for each in range(port, port + _TRIED):
        with contextlib.suppress(OSError, OverflowError):
            return http.server.ThreadingHTTPServer((host, each), answer)
    raise UsageError(
        f"No port from {port} to {port + _TRIED - 1} is free at {host}; choose another one."
    )

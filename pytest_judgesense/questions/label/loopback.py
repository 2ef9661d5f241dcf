"""The page to label on, served on 127.0.0.1 to one browser of this machine.

Who may use it: whoever has the address, which holds a random token. A page of another site can send
requests to this machine too, under a name of its own that leads here, or from its own origin: so
the host of a request must be that of the address, and the origin of what it sends too. The page
loads nothing from elsewhere, and its policy lets it load nothing.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import secrets
import sys
import time
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Event
from typing import Any, Final

from pytest_judgesense.errors import JudgesenseError
from pytest_judgesense.files.limits import json_value
from pytest_judgesense.questions.label.sitting import Sitting
from pytest_judgesense.suites.builtin import template_text

# Without a request for so long the server ends; every answer is in the file by then.
IDLE_S: Final = 2 * 60 * 60
_POLL_S: Final = 0.2
_LARGEST_BODY: Final = 64 * 1024
# Of its length as text: Python refuses to read numbers of thousands of digits.
_LONGEST_LENGTH: Final = 9
_JSON: Final = "application/json"


class LabelServer(ThreadingHTTPServer):
    """The page of a sitting, at an address that nobody else knows."""

    daemon_threads = True
    timeout = _POLL_S

    def __init__(self, sitting: Sitting, idle_s: float = IDLE_S) -> None:
        super().__init__(("127.0.0.1", 0), _LabelHandler)
        self.sitting = sitting
        self.token = secrets.token_urlsafe(32)
        self.origin = f"http://127.0.0.1:{self.server_address[1]}"
        self.page = _page()
        self.policy = _policy_of(self.page)
        self.ended = Event()
        self.last_request = time.monotonic()
        self._idle_s = idle_s

    @property
    def url(self) -> str:
        """The address of the page."""
        return f"{self.origin}/{self.token}/"

    def serve(self) -> bool:
        """Serve until the page says that the person is done, or nobody asks for too long.

        Returns:
            Whether the person is done.
        """
        while not self.ended.is_set() and time.monotonic() - self.last_request < self._idle_s:
            self.handle_request()
        return self.ended.is_set()

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing of a browser that has gone away; anything else is printed."""
        if not isinstance(sys.exception(), ConnectionError | TimeoutError):
            super().handle_error(request, client_address)


def _page() -> str:
    """The page, with what all pages show conversations by."""
    page = template_text("label.html")
    for name in ("conversation.css", "conversation.js"):
        page = page.replace(f"/* {name} */\n", template_text(name))
    return page


def _policy_of(page: str) -> str:
    """The policy that lets the page use its own style and script, and nothing else."""
    digests = {}
    for element in ("style", "script"):
        text = page.partition(f"<{element}>")[2].partition(f"</{element}>")[0]
        digests[element] = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return (
        "default-src 'none'; connect-src 'self'; img-src data:; base-uri 'none'; "
        "form-action 'none'; frame-ancestors 'none'; "
        f"style-src 'sha256-{digests['style']}'; script-src 'sha256-{digests['script']}'"
    )


class _LabelHandler(BaseHTTPRequestHandler):
    server: LabelServer
    server_version, sys_version = "judgesense", ""
    timeout = 30  # seconds in which the next bytes of a request have to come

    def do_GET(self) -> None:
        action = self._action()
        if action is None:
            self._refuse(HTTPStatus.FORBIDDEN, "this address is not known here")
        elif action == "":
            self._send(HTTPStatus.OK, "text/html; charset=utf-8", self.server.page.encode())
        elif action == "state":
            self._reply(HTTPStatus.OK)
        else:
            self._refuse(HTTPStatus.NOT_FOUND, "there is no such page")

    def do_POST(self) -> None:
        length = self.headers.get("Content-Length", "")
        if not length.isascii() or not length.isdigit():
            self._refuse(HTTPStatus.LENGTH_REQUIRED, "a body of a stated length is expected")
        elif len(length) > _LONGEST_LENGTH or int(length) > _LARGEST_BODY:
            self._refuse(HTTPStatus.REQUEST_ENTITY_TOO_LARGE, f"at most {_LARGEST_BODY} bytes")
        else:
            # Read in any case: a socket that is closed with unread bytes takes the reply along.
            body = self.rfile.read(int(length))
            action = self._action()
            if action is None or not self._is_from_the_page():
                self._refuse(HTTPStatus.FORBIDDEN, "this is not sent by the page")
            else:
                self._act(action, body)

    def _action(self) -> str | None:
        """What follows the token in the address; ``None`` if host or token are not ours."""
        is_here = self.headers.get_all("Host") == [self.server.origin.removeprefix("http://")]
        token, _, action = self.path.partition("?")[0].removeprefix("/").partition("/")
        is_known = hmac.compare_digest(token.encode(), self.server.token.encode())
        if not (is_here and is_known):
            return None
        self.server.last_request = time.monotonic()
        return action

    def _is_from_the_page(self) -> bool:
        """Whether the browser says so; one that does not know ``Sec-Fetch-Site`` sends none."""
        site = self.headers.get("Sec-Fetch-Site", "same-origin")
        is_same = site == "same-origin" and self.headers.get("Origin") == self.server.origin
        # A form of another site cannot send this type.
        return is_same and self.headers.get("Content-Type") == _JSON

    def _act(self, action: str, body: bytes) -> None:
        sitting = self.server.sitting
        try:
            match action, json_value(body):
                case "answer", {"place": int(place), "values": dict(values), "note": str(note)}:
                    done = sitting.answer(place, values, note)
                case "undo", {"place": int(place)}:
                    done = sitting.undo(place)
                case "finish", {}:
                    self._reply(HTTPStatus.OK)
                    self.server.ended.set()
                    return
                case _:
                    self._refuse(HTTPStatus.BAD_REQUEST, "the page sends nothing of this kind")
                    return
        except JudgesenseError as error:
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, f"this was not kept. {error}")
        except (ValueError, TypeError) as error:
            self._refuse(HTTPStatus.BAD_REQUEST, str(error))
        else:
            self._reply(HTTPStatus.OK if done else HTTPStatus.CONFLICT)

    def _reply(self, status: HTTPStatus) -> None:
        """Send what comes next."""
        try:
            state = self.server.sitting.state()
        except JudgesenseError as error:  # somebody has edited the file
            self._refuse(HTTPStatus.INTERNAL_SERVER_ERROR, str(error))
            return
        self._send(status, _JSON, json.dumps(state).encode())

    def _refuse(self, status: HTTPStatus, problem: str) -> None:
        self._send(status, _JSON, json.dumps({"problem": problem}).encode())

    def _send(self, status: HTTPStatus, kind: str, data: bytes) -> None:
        self.send_response(status)
        headers = {
            "Content-Type": kind,
            "Content-Length": str(len(data)),
            "Content-Security-Policy": self.server.policy,
            "Cache-Control": "no-store",
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cross-Origin-Opener-Policy": "same-origin",
            "Cross-Origin-Resource-Policy": "same-origin",
        }
        for name, value in headers.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, format: str, *args: object) -> None:
        """Nothing: the terminal is for how far the person is."""

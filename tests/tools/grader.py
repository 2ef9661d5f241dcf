"""A grader on 127.0.0.1 in OpenAI's wire format: ``grader.py PORT``. It ends after half an hour.

Its grade is drawn by the digest of the prompt, in the form that the tool's own prompt asks for, so
that a run gives the same results again; some replies state none.
"""

import json
import sys
import threading
import time
from hashlib import sha256
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


def said(text: str) -> str:
    drawn = sha256(text.encode()).digest()[0]
    if "GRADE: $LETTER" in text:
        return f"Compared.\n\nGRADE: {'CI'[drawn % 2]}" if drawn > 25 else "I am not sure."
    if "pass: boolean" in text:
        grade = {"reason": "seen", "pass": drawn > 100, "score": round(drawn / 255, 3)}
        return json.dumps(grade)
    if "score" in text:
        return json.dumps({"score": drawn % 11, "reason": "seen"})
    return "The answer is four." if drawn % 2 else "It may be five."


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self) -> None:
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        parts = [one["content"] for one in asked["messages"]]
        text = "\n".join(part if isinstance(part, str) else json.dumps(part) for part in parts)
        message = {"role": "assistant", "content": said(text)}
        counts = {"prompt_tokens": len(text), "completion_tokens": 9, "total_tokens": len(text) + 9}
        reply = {
            "id": "x",
            "object": "chat.completion",
            "created": 1,
            "model": asked["model"],
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": counts,
        }
        body = json.dumps(reply).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Quiet."""


if __name__ == "__main__":
    server = ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    time.sleep(1800)

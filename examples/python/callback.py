"""Receive callbacks, and print each new outcome once: python3 callback.py PORT"""

import base64
import hashlib
import hmac
import json
import os
import sys
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ.get("OGENE_CALLBACK_SECRET")
# A callback can arrive twice. A real receiver has a unique key of both in its database.
seen = set()


def is_genuine(headers, body):
    """Standard Webhooks: HMAC-SHA256 of id, timestamp and body. A timestamp is good for five minutes."""
    key = base64.b64decode(SECRET.removeprefix("whsec_"))
    sent = headers.get("webhook-timestamp", "")
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.digest(key, signed, hashlib.sha256)).decode()
    given = headers.get("webhook-signature", "").split()
    is_fresh = sent.isdigit() and abs(time.time() - int(sent)) <= 300
    return is_fresh and any(hmac.compare_digest(expected, signature) for signature in given)


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        if SECRET and not is_genuine(self.headers, body):
            return self.answer(401)
        try:
            outcome = json.loads(body)
            key = (outcome["message_id"], outcome["recipient"])
            status = outcome["delivery_status"]
        except (ValueError, KeyError, TypeError):
            return self.answer(400)
        if key not in seen:
            seen.add(key)
            print(*key, status, flush=True)
        self.answer(200)

    def answer(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()

# Receives events, verifies their signatures, and prints them:
# SECRET=whsec_… PORT=4000 python3 receiver.py
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from standardwebhooks import Webhook, WebhookVerificationError  # pip install standardwebhooks

MAX_BODY = 1_000_000  # bytes; what is read before the signature is verified

webhook = Webhook(os.environ["SECRET"])


class Receiver(BaseHTTPRequestHandler):
    timeout = 10  # seconds without data, after which the connection is closed

    def do_POST(self):
        self.send_response(self.receive())
        self.end_headers()

    def receive(self):
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()):
            return 411
        if int(length) > MAX_BODY:
            return 413
        try:
            event = webhook.verify(self.rfile.read(int(length)), dict(self.headers))
        except WebhookVerificationError:
            return 401
        print(event["type"], event["subject"], flush=True)
        return 204


ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()

# Receives events, verifies their signatures, and prints them:
# SECRET=whsec_… PORT=4000 python3 receiver.py
import os
from http.server import BaseHTTPRequestHandler, HTTPServer

from standardwebhooks import Webhook, WebhookVerificationError  # pip install standardwebhooks

webhook = Webhook(os.environ["SECRET"])


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        try:
            event = webhook.verify(body, dict(self.headers))
            print(event["type"], event["subject"], flush=True)
            self.send_response(204)
        except WebhookVerificationError:
            self.send_response(401)
        self.end_headers()


HTTPServer(("127.0.0.1", int(os.environ["PORT"])), Receiver).serve_forever()

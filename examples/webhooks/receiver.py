# A receiver of webhooks that checks signatures, and prints each event once.
#
#   pip install svix
#   SLUICE_WEBHOOK_SECRET=whsec_... PORT=8081 python3 receiver.py
import json
import os
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from svix.webhooks import Webhook, WebhookVerificationError

webhook = Webhook(os.environ["SLUICE_WEBHOOK_SECRET"])
# A message may come twice, with the same id. A real receiver keeps the ids in its database.
seen = set()


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        # The signature covers these bytes: parse nothing before it is checked.
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        headers = {name.lower(): value for name, value in self.headers.items()}
        try:
            webhook.verify(body, headers)
        except WebhookVerificationError:
            return self.answer(401)
        event = json.loads(body)
        if headers["webhook-id"] not in seen:
            print(event["type"], event.get("pr_number", ""), flush=True)
        seen.add(headers["webhook-id"])
        # Answer within 15 seconds. Longer work belongs behind the answer.
        return self.answer(204)

    def answer(self, status):
        self.send_response(status)
        self.send_header("content-length", "0")
        self.end_headers()

    def log_message(self, *args):
        pass


server = ThreadingHTTPServer(("", int(os.environ.get("PORT", 8081))), Receiver)
print(f"listens on port {server.server_port}", flush=True)
server.serve_forever()

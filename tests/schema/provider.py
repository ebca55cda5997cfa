"""A payment provider that makes a page for each payment and has no payment: prints its port, and serves until it ends."""

import json
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


class Provider(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        asked = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        data = {
            "authorization_url": "https://checkout.example.com/" + asked["reference"],
            "access_code": "0peioxfhpn",
            "reference": asked["reference"],
        }
        body = json.dumps({"status": True, "message": "Authorization URL created", "data": data}).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


server = ThreadingHTTPServer(("127.0.0.1", 0), Provider)
print(server.server_port, flush=True)
server.serve_forever()

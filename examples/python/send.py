"""Send a message, and print its message_id: python3 send.py RECIPIENT TEXT [CALLBACK_URL]"""

import json
import os
import sys
import urllib.error
import urllib.request

fields = {"from": os.environ["OGENE_SENDER"], "to": sys.argv[1], "body": sys.argv[2]}
if len(sys.argv) > 3:
    fields["callback_url"] = sys.argv[3]
request = urllib.request.Request(
    os.environ["OGENE_URL"] + "/api/v2/sms",
    data=json.dumps(fields).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["OGENE_TOKEN"],
        "Content-Type": "application/json",
    },
)
try:
    with urllib.request.urlopen(request, timeout=30) as response:
        print(json.load(response)["data"]["message_id"])
except urllib.error.HTTPError as error:
    answer = json.load(error)
    sys.exit(f"{answer['code']}: {answer['message']}")

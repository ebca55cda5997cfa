"""Print each recipient of a message and its status: python3 report.py MESSAGE_ID"""

import json
import os
import sys
import urllib.error
import urllib.parse
import urllib.request

page, last = 1, 1
while page <= last:
    query = urllib.parse.urlencode({"message_id": sys.argv[1], "page": page, "per_page": 1000})
    request = urllib.request.Request(
        f"{os.environ['OGENE_URL']}/api/v2/delivery-reports?{query}",
        headers={"Authorization": "Bearer " + os.environ["OGENE_TOKEN"]},
    )
    try:
        with urllib.request.urlopen(request, timeout=30) as response:
            data = json.load(response)["data"]
    except urllib.error.HTTPError as error:
        answer = json.load(error)
        sys.exit(f"{answer['code']}: {answer['message']}")
    for report in data["reports"]:
        print(report["recipient"], report["delivery_status"])
    page, last = page + 1, data["pagination"]["last_page"]

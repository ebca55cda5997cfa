"""Writes the queries of a Grafana board as rules, for promtool to read: queries.py BOARD."""

import json
import sys

board = json.load(open(sys.argv[1]))
print("groups:\n  - name: board\n    rules:")
for panel in board["panels"]:
    for target in panel["targets"]:
        query = target["expr"].replace("$__rate_interval", "1m")
        print(f"      - record: panel_{panel['id']}_{target['refId']}\n        expr: {json.dumps(query)}")

"""Imports every module that openapi-generator writes in Python, and sends a message with it."""

import importlib
import os
import pkgutil
import time

import ogene_openapi_generator
from ogene_openapi_generator import ApiClient, Configuration, LiveApi, SendRequest, SendRequestTo

modules = [each.name for each in pkgutil.walk_packages(ogene_openapi_generator.__path__, "ogene_openapi_generator.")]
for name in modules:
    importlib.import_module(name)

with ApiClient(Configuration(host=os.environ["OGENE_URL"], access_token=os.environ["OGENE_TOKEN"])) as client:
    api = LiveApi(client)
    # This generator wraps whatever can be of more than one type.
    to = SendRequestTo(["2348031234567"])
    request = SendRequest(**{"from": os.environ["OGENE_SENDER"]}, to=to, body="Hello from openapi-generator")
    sent = api.send(request)
    assert sent.data.recipients_count == 1, sent

    # The caller of this program ends it when it takes too long.
    while api.report(sent.data.message_id).data.reports[0].delivery_status != "delivrd":
        time.sleep(0.1)
    assert api.balance().balance.total_balance > 0
    assert api.sender_ids().data.sender_ids[0].rejection_reason is None
print(f"openapi-generator (Python): {len(modules)} modules, delivered {sent.data.message_id}")

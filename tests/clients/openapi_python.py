"""Imports every module that openapi-python-client writes, and sends a message with it."""

import importlib
import os
import pkgutil
import time

import ogene_openapi_python
from ogene_openapi_python import AuthenticatedClient
from ogene_openapi_python.api.live import balance, report, send, sender_ids
from ogene_openapi_python.models import SendRequest

modules = [each.name for each in pkgutil.walk_packages(ogene_openapi_python.__path__, "ogene_openapi_python.")]
for name in modules:
    importlib.import_module(name)
assert any(name.endswith(".sandbox.sandbox_send") for name in modules), "the sandbox has no module that sends"

client = AuthenticatedClient(base_url=os.environ["OGENE_URL"], token=os.environ["OGENE_TOKEN"], raise_on_unexpected_status=True)
request = SendRequest(from_=os.environ["OGENE_SENDER"], to=["2348031234567"], body="Hello from openapi-python-client")
sent = send.sync(client=client, body=request)
assert sent.data.recipients_count == 1, sent

# The caller of this program ends it when it takes too long.
while report.sync(client=client, message_id=sent.data.message_id).data.reports[0].delivery_status != "delivrd":
    time.sleep(0.1)
assert balance.sync(client=client).balance.total_balance > 0
assert sender_ids.sync(client=client).data.sender_ids[0].rejection_reason is None
print(f"openapi-python-client: {len(modules)} modules, delivered {sent.data.message_id}")

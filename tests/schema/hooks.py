"""What is changed in whatever schemathesis makes up, in each of its phases, before it is sent."""

import datetime
import os

import schemathesis

# A sender ID, a recipient and a message that there are: half of all cases get further with them.
KNOWN = {"from": "Ogene", "to": "2348031234567", "message_id": os.environ["OGENE_MESSAGE"]}
# Callbacks lead to this machine alone, where they are refused.
NOWHERE = "http://127.0.0.1:9/"


def changed(fields):
    """The fields with known values, or as they are, by a coin that falls the same way for the same fields."""
    if not isinstance(fields, dict):
        return fields
    known = len(repr(fields)) % 2 == 0
    places = {**(KNOWN if known else {}), "callback_url": NOWHERE, "url": NOWHERE}
    # The schema does not say which characters of a list of numbers separate them, and that no text holds U+0000.
    if "to" in fields and not any(part.isalnum() for part in str(fields["to"])):
        places["to"] = KNOWN["to"]
    for name in ("body", "customer_reference"):
        if "\0" in str(fields.get(name, "")):
            places[name] = str(fields[name]).replace("\0", "0")
    return {name: places.get(name, value) for name, value in fields.items()}


# A message that waits may be sent at this time.
TOMORROW = (datetime.datetime.now() + datetime.timedelta(days=1)).strftime("%Y-%m-%d %H:%M:%S")

# The forms of these texts are in their descriptions alone, so each has a value of its form.
FORMED = {
    "since": "2026-01-01 00:00:00",
    "until": "2027-01-01 00:00:00",
    "send_at": "",
    "validity": "600",
    "recipient": KNOWN["to"],
    "state": "sending",
    "delivery_status": "delivrd",
    "by": "day",
    "cursor": "",
    "limit": "100",
    "code": "123456",
    "sender": "Ogene",
    "number": "32811",
    "keyword": "vote",
    "sender_id": "AdaStores",
    "purpose": "News",
    "expires_at": "2099-01-01 00:00:00",
    "allow": ["127.0.0.0/8"],
    "variables": {"name": "Ada"},
    "overlap": 3600,
    "daily_limit": "5000.00",
    "prices": {},
    "amount": "500.00",
    "email": "ada@example.com",
    "name": "Ada",
    "threshold": "5000.00",
    "reference": "stock-1",
    "return_url": "https://shop.example.ng/thanks",
}
# Fields of which a request needs one that it knows.
NEEDED = {
    "/inbound/answers": {"stop": "Bye"},
    "/sub-accounts/{sub_account_id}": {"status": "active"},
    "/alerts": {"url": "https://shop.example.ng/low"},
}


def formed(fields, path):
    """The fields whose forms no schema has, with a value of their form."""
    if not isinstance(fields, dict):
        return fields
    values = dict(FORMED)
    if "/otp" in path:
        values |= {"kind": "numeric", "length": 6, "body": "Your code is {code}.", "to": KNOWN["to"]}
    elif "/personalised" in path:
        values["body"] = "Hello"
    elif "/sms" not in path:
        values |= {"kind": "charge", "gateway": "direct-refund", "message_id": KNOWN["message_id"]}
    if path.endswith("/reschedule"):
        values["send_at"] = TOMORROW
    formed_fields = {name: values.get(name, value) for name, value in fields.items()}
    if path.endswith("/alerts"):
        # An alert has a URL or an address.
        formed_fields.pop("email", None)
    if path.endswith("/top-ups"):
        # One provider is configured.
        formed_fields.pop("provider", None)
    if path.endswith("/inbound/routes"):
        # A route has a URL or an SMPP user, and the account has no user.
        formed_fields.pop("smpp_user", None)
    rows = formed_fields.get("messages")
    if isinstance(rows, list):
        formed_fields["messages"] = [formed(row, path) for row in rows]
    return formed_fields


@schemathesis.hook
def before_call(context, case, kwargs):
    case.query = formed(changed(case.query), case.path)
    case.body = formed(changed(case.body), case.path)
    if isinstance(case.body, dict):
        for path, fields in NEEDED.items():
            if case.path.endswith(path):
                case.body |= fields
    case.path_parameters = changed(case.path_parameters)

"""What is changed in whatever schemathesis makes up, in each of its phases, before it is sent."""

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
    places = {**(KNOWN if known else {}), "callback_url": NOWHERE}
    # The schema does not say which characters of a list of numbers separate them, and that no text holds U+0000.
    if "to" in fields and not any(part.isalnum() for part in str(fields["to"])):
        places["to"] = KNOWN["to"]
    for name in ("body", "customer_reference"):
        if "\0" in str(fields.get(name, "")):
            places[name] = str(fields[name]).replace("\0", "0")
    return {name: places.get(name, value) for name, value in fields.items()}


@schemathesis.hook
def before_call(context, case, kwargs):
    case.query = changed(case.query)
    case.body = changed(case.body)
    case.path_parameters = changed(case.path_parameters)

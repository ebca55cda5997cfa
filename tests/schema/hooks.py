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
    return {name: places.get(name, value) for name, value in fields.items()}


@schemathesis.hook
def before_call(context, case, kwargs):
    case.query = changed(case.query)
    case.body = changed(case.body)
    case.path_parameters = changed(case.path_parameters)

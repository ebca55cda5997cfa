#!/usr/bin/env bash
# aiosmpp 1.0.3: the NUL at the end of receipted_message_id (SMPP 3.4, section 5.3.2.12) belongs to the id for it, but not the
# NUL of the message_id in a submit_sm_resp. So the id of a receipt is never that of its message. smpplib 2.2.4, from which it
# comes, reads both without the NUL.
#
# Guessed: b'a17', twice
# Seen:    aiosmpp: response b'a17', receipt b'a17\x00'
# Ogene:   it reads the id with and without a NUL: tests are `both_ids_are_returned_if_text_and_parameter_differ` and
#          `parameters_alone_are_enough`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" aiosmpp==1.0.3 smpplib==2.2.4 six==1.17.0
cat >"$work/finding.py" <<'PY'
import struct

import aiosmpp.smpp
import smpplib.smpp
from smpplib.client import Client


def pdu(command, body):
    return struct.pack(">IIII", 16 + len(body), command, 0, 1) + body


response = pdu(0x80000004, b"a17\0")
fields = b"\0" + b"\1\1" + b"2348031234567\0" + b"\0\1" + b"32811\0" + b"\4\0\0" + b"\0\0" + bytes(5)
receipt = pdu(5, fields + struct.pack(">HH", 0x1E, 4) + b"a17\0" + struct.pack(">HHB", 0x427, 1, 2))
client = Client("127.0.0.1", 2775)
for name, library, more in (
    ("smpplib", smpplib.smpp, {"allow_unknown_opt_params": False}),
    ("aiosmpp", aiosmpp.smpp, {}),
):
    first = library.parse_pdu(response, client=client, **more).message_id
    second = library.parse_pdu(receipt, client=client, **more).receipted_message_id
    print(f"{name}: response {first}, receipt {second}")
PY
PYTHONPATH="$work/python" python3 -W ignore "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "the ids are read otherwise now"; exit 1; }
smpplib: response b'a17', receipt b'a17'
aiosmpp: response b'a17', receipt b'a17\x00'
SEEN

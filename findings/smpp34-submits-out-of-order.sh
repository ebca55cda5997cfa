#!/usr/bin/env bash
# smpp34 1.5.0 (an SMSC in Python on a core in Rust): submit_sm that arrive in one write reach the application in another
# order, and their responses leave in another order too. SMPP permits that for responses, but the pages of a text and the
# messages of a campaign lose their order.
#
# Guessed: the application gets 300 submit_sm in the order of their sequence numbers.
# Seen:    300 of 300 arrive, in the order of sending: no
# Ogene:   it matches a response by its sequence number, and numbers the pages of a text, so a handset joins them in any
#          order: tests are `unbind_waits_for_responses_and_returns_the_queue` and
#          `the_pages_of_a_text_are_joined_by_one_reference`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder, and on the loopback address.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smpp34==1.5.0
cat >"$work/finding.py" <<'PY'
import asyncio
import os
import socket
import struct

import smpp34

COUNT = 300


def pdu(command, sequence, body):
    return struct.pack(">IIII", 16 + len(body), command, 0, sequence) + body


def submit(number):
    text = b"%d" % number
    fields = b"\0" + b"\5\0AdaFoods\0" + b"\1\1" + b"2348031234567\0" + bytes(3) + b"\0\0" + bytes([1, 0, 0, 0, len(text)])
    return pdu(4, number + 2, fields + text)


async def application(server, seen):
    while len(seen) < COUNT:
        event = await server.next()
        if isinstance(event, smpp34.SubmitSmEvent):
            seen.append(int(event.short_message))
            event.accept(f"id{len(seen)}")


async def main():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = smpp34.Server("127.0.0.1", port)
    await server.start()
    seen = []
    work = asyncio.create_task(application(server, seen))
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(pdu(9, 1, b"ogene\0secret\0\0" + b"\x34\0\0" + b"\0"))
    await reader.readexactly(struct.unpack(">I", await reader.readexactly(4))[0] - 4)
    writer.write(b"".join(submit(number) for number in range(COUNT)))
    await work
    ordered = "yes" if seen == list(range(COUNT)) else "no"
    print(f"{len(set(seen))} of {COUNT} arrive, in the order of sending: {ordered}", flush=True)
    writer.close()
    await server.stop()
    # The threads of the library may outlive the interpreter.
    os._exit(0)


asyncio.run(asyncio.wait_for(main(), 60))
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "smpp34 keeps the order now"; exit 1; }
300 of 300 arrive, in the order of sending: no
SEEN

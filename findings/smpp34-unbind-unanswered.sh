#!/usr/bin/env bash
# smpp34 1.5.0 (an SMSC in Python on a core in Rust): an unbind has no unbind_resp. The server ends the connection in its
# place, although it answers an enquire_link on the same connection (SMPP 3.4, section 4.2.2).
#
# Guessed: unbind_resp, and then the end of the connection.
# Seen:    enquire_link: 80000015
#          unbind: the connection ends
# Ogene:   the end of the connection ends its wait too, and an unbind that nobody answers delays a stop by three seconds at
#          most: a test is `a_peer_that_does_not_answer_unbind_delays_nothing`.
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


def pdu(command, sequence, body=b""):
    return struct.pack(">IIII", 16 + len(body), command, 0, sequence) + body


async def answer(reader):
    try:
        head = await asyncio.wait_for(reader.readexactly(16), 10)
    except asyncio.IncompleteReadError:
        return "the connection ends"
    length, command, _, _ = struct.unpack(">IIII", head)
    await reader.readexactly(length - 16)
    return f"{command:08x}"


async def main():
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    server = smpp34.Server("127.0.0.1", port)
    await server.start()
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    bind = b"ogene\0secret\0\0" + b"\x34\0\0" + b"\0"
    for name, request in (("bind_transceiver", pdu(9, 1, bind)), ("enquire_link", pdu(0x15, 2)), ("unbind", pdu(6, 3))):
        writer.write(request)
        print(f"{name}: {await answer(reader)}", flush=True)
    writer.close()
    await server.stop()
    # The threads of the library may outlive the interpreter.
    os._exit(0)


asyncio.run(asyncio.wait_for(main(), 60))
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "smpp34 answers otherwise now"; exit 1; }
bind_transceiver: 80000009
enquire_link: 80000015
unbind: the connection ends
SEEN

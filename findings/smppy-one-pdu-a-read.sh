#!/usr/bin/env bash
# smppy 0.3.2 (an SMSC in Python): of several PDUs that arrive in one read it answers the first alone. A PDU whose octets
# arrive in two reads has no answer at all. TCP keeps no borders, so both are usual.
#
# Guessed: three submit_sm in one write have three responses, and one in two writes has one.
# Seen:    three in one write, responses: 1
#          one in two writes, responses: 0
# Ogene:   it writes what its window permits at once, so such a carrier needs `window = 1`, as
#          docs/operating/troubleshooting.md says: a test is `a_window_of_one_sends_one_submit_at_a_time`. Its own reader takes
#          PDUs that were cut at any octet (`pdus_split_at_any_octet_are_the_same_pdus`).
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder, and on the loopback address.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smppy==0.3.2 smpppdu==0.1.2
cat >"$work/finding.py" <<'PY'
import asyncio
import contextlib
import struct

from smppy import Application
from smppy.server import SmppProtocol


class Smsc(Application):
    async def handle_bound_client(self, client):
        return client

    async def handle_unbound_client(self, client):
        pass

    async def handle_sms_received(self, client, source_number, dest_number, text):
        pass


def pdu(command, sequence, body):
    return struct.pack(">IIII", 16 + len(body), command, 0, sequence) + body


def submit(sequence):
    text = b"Your order is ready"
    fields = b"\0" + b"\5\0AdaFoods\0" + b"\1\1" + b"2348031234567\0" + bytes(3) + b"\0\0" + bytes([1, 0, 0, 0, len(text)])
    return pdu(4, sequence, fields + text)


async def responses(port, writes):
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    writer.write(pdu(9, 1, b"ogene\0secret\0\0" + b"\x34\0\0" + b"\0"))
    await reader.readexactly(struct.unpack(">I", await reader.readexactly(4))[0] - 4)
    for octets in writes:
        writer.write(octets)
        await asyncio.sleep(0.5)
    count = 0
    with contextlib.suppress(asyncio.TimeoutError):
        while True:
            head = await asyncio.wait_for(reader.readexactly(16), 2)
            await reader.readexactly(struct.unpack(">I", head[:4])[0] - 16)
            count += head[4:8] == b"\x80\0\0\4"
    writer.close()
    return count


async def main():
    smsc = Smsc("finding")
    server = await asyncio.get_running_loop().create_server(lambda: SmppProtocol(app=smsc), "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    one = submit(5)
    print("one in one write, responses:", await responses(port, [one]))
    print("three in one write, responses:", await responses(port, [submit(2) + submit(3) + submit(4)]))
    print("one in two writes, responses:", await responses(port, [one[:30], one[30:]]))


asyncio.run(main())
PY
PYTHONPATH="$work/python" timeout 60 python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "smppy answers otherwise now"; exit 1; }
one in one write, responses: 1
three in one write, responses: 1
one in two writes, responses: 0
SEEN

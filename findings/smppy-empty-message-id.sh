#!/usr/bin/env bash
# smppy 0.3.2 (an SMSC in Python): the submit_sm_resp of an accepted message has status 0 and an empty message_id, for every
# message. No receipt can name such a message.
#
# Guessed: an id of its own for each message.
# Seen:    submit_sm_resp: status 0, message_id ""
#          submit_sm_resp: status 0, message_id ""
# Ogene:   such a page is in doubt, waits for a receipt by number and sender, and is never sent again (docs/spec/delivery.md,
#          section 3): a test is `a_submit_without_an_id_is_in_doubt_and_never_resent`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder, and on the loopback address.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" smppy==0.3.2 smpppdu==0.1.2
cat >"$work/finding.py" <<'PY'
import asyncio
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


async def read(reader):
    head = await reader.readexactly(16)
    return struct.unpack(">IIII", head), await reader.readexactly(struct.unpack(">I", head[:4])[0] - 16)


async def main():
    smsc = Smsc("finding")
    server = await asyncio.get_running_loop().create_server(lambda: SmppProtocol(app=smsc), "127.0.0.1", 0)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.sockets[0].getsockname()[1])
    writer.write(pdu(9, 1, b"ogene\0secret\0\0" + b"\x34\0\0" + b"\0"))
    await read(reader)
    for sequence in (2, 3):
        body = b"\0" + b"\5\0AdaFoods\0" + b"\1\1" + b"2348031234567\0" + bytes(5) + bytes([1, 0, 0, 0, 5]) + b"Hello"
        writer.write(pdu(4, sequence, body))
        (_, command, status, _), answer = await read(reader)
        assert command == 0x80000004
        print(f'submit_sm_resp: status {status}, message_id "{answer.rstrip(bytes(1)).decode()}"')
    writer.close()


asyncio.run(main())
PY
PYTHONPATH="$work/python" timeout 60 python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { echo "smppy answers otherwise now"; exit 1; }
submit_sm_resp: status 0, message_id ""
submit_sm_resp: status 0, message_id ""
SEEN

#!/usr/bin/env bash
# aiosmpplib 0.7.4 (an ESME in Python): a receipt whose content is in optional parameters alone, with an empty short_message,
# is answered with a generic_nack of status 0. The application gets nothing. A receipt with the same parameters and a text
# has a deliver_sm_resp.
#
# Guessed: deliver_sm_resp, for both.
# Seen:    without a text: 80000000 with status 0
# Ogene:   it reads such a receipt (`parameters_alone_are_enough`). The server of its crate `smpp` takes a generic_nack for
#          a refusal, whatever its status is: a test is `an_answer_is_matched_with_its_deliver_sm`.
#
# Needs python3 with pip and the registry of PyPI. Works in a temporary folder, and on the loopback address.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
python3 -m pip install --quiet --no-deps --disable-pip-version-check --root-user-action=ignore \
    --target "$work/python" aiosmpplib==0.7.4
cat >"$work/finding.py" <<'PY'
import asyncio
import logging
import struct

from aiosmpplib import ESME

TLVS = struct.pack(">HH", 0x1E, 4) + b"a17\0" + struct.pack(">HHB", 0x427, 1, 2)
RECEIPT = b"id:a17 sub:001 dlvrd:001 submit date:2611290930 done date:2611290931 stat:DELIVRD err:000 text:Your order"


def deliver(sequence, octets):
    fields = b"\0" + b"\1\1" + b"2348031234567\0" + b"\0\1" + b"32811\0" + b"\4\0\0" + b"\0\0" + bytes(4)
    body = fields + bytes([len(octets)]) + octets + TLVS
    return struct.pack(">IIII", 16 + len(body), 5, 0, sequence) + body


async def read(reader):
    length, command, status, sequence = struct.unpack(">IIII", await reader.readexactly(16))
    await reader.readexactly(length - 16)
    return command, status, sequence


async def main():
    done = asyncio.get_running_loop().create_future()

    async def smsc(reader, writer):
        command, _, sequence = await read(reader)
        writer.write(struct.pack(">IIII", 20, command | 0x80000000, 0, sequence) + b"MTN\0")
        for name, octets in (("with a text", RECEIPT), ("without a text", b"")):
            writer.write(deliver(2, octets))
            command, status, _ = await read(reader)
            print(f"{name}: {command:08x} with status {status}")
        done.set_result(None)

    server = await asyncio.start_server(smsc, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    esme = ESME("127.0.0.1", port, "ogene", "secret", log_level=logging.CRITICAL)
    work = asyncio.create_task(esme.start())
    await done
    work.cancel()


asyncio.run(asyncio.wait_for(main(), 60))
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "aiosmpplib answers otherwise now"; exit 1; }
with a text: 80000005 with status 0
without a text: 80000000 with status 0
SEEN

#!/usr/bin/env bash
# aiosmpplib 0.7.4 (an ESME in Python): pages that are joined by a 16-bit reference (3GPP TS 23.040, section 9.2.3.24.8) are
# answered with status 0, and never reach the application. Their reference is read from four octets, so it includes the
# number of the page and differs on each. Pages with an 8-bit reference are joined.
#
# Guessed: Your order is ready, for both.
# Seen:    16-bit reference: 2 pages answered, text: none
# Ogene:   its pages have 8-bit references, which keep one octet more of each page for the text: a test is
#          `the_pages_of_a_text_are_joined_by_one_reference`. It joins the pages of a receipt by either:
#          `segments_are_joined_in_any_order`.
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
from aiosmpplib.hook import AbstractHook


class Application(AbstractHook):
    text = None

    async def sending(self, smpp_message, pdu, client_id):
        pass

    async def received(self, smpp_message, pdu, client_id):
        self.text = getattr(smpp_message, "short_message", None) or self.text

    async def send_error(self, smpp_message, error, client_id):
        pass


def deliver(sequence, octets):
    fields = b"\0" + b"\1\1" + b"2348031234567\0" + b"\0\1" + b"32811\0" + b"\x40\0\0" + b"\0\0" + bytes(4)
    body = fields + bytes([len(octets)]) + octets
    return struct.pack(">IIII", 16 + len(body), 5, 0, sequence) + body


async def read(reader):
    length, command, status, sequence = struct.unpack(">IIII", await reader.readexactly(16))
    await reader.readexactly(length - 16)
    return command, status, sequence


async def received(headers):
    answered = asyncio.get_running_loop().create_future()

    async def smsc(reader, writer):
        command, _, sequence = await read(reader)
        writer.write(struct.pack(">IIII", 20, command | 0x80000000, 0, sequence) + b"MTN\0")
        for number, (header, text) in enumerate(zip(headers, (b"Your order ", b"is ready"))):
            writer.write(deliver(2 + number, header + text))
        answers = [await read(reader) for _ in headers]
        answered.set_result(sum(command == 0x80000005 and status == 0 for command, status, _ in answers))

    server = await asyncio.start_server(smsc, "127.0.0.1", 0)
    application = Application()
    port = server.sockets[0].getsockname()[1]
    esme = ESME("127.0.0.1", port, "ogene", "secret", hook=application, log_level=logging.CRITICAL)
    work = asyncio.create_task(esme.start())
    count = await answered
    await asyncio.sleep(0.5)
    work.cancel()
    return f"{count} pages answered, text: {application.text or 'none'}"


async def main():
    print("8-bit reference:", await received([b"\5\0\3\7\2\1", b"\5\0\3\7\2\2"]))
    print("16-bit reference:", await received([b"\6\x08\4\0\7\2\1", b"\6\x08\4\0\7\2\2"]))


asyncio.run(asyncio.wait_for(main(), 60))
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "aiosmpplib joins otherwise now"; exit 1; }
8-bit reference: 2 pages answered, text: Your order is ready
16-bit reference: 2 pages answered, text: none
SEEN

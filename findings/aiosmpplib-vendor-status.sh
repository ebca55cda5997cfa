#!/usr/bin/env bash
# aiosmpplib 0.7.4 (an ESME in Python): a submit_sm_resp with a status of the SMSC's vendor, 0x0400 to 0x04FF (SMPP 3.4,
# section 5.1.3), ends the connection without an unbind. The application gets no refusal.
#
# Guessed: a refusal with the number of the status, as for any other.
# Seen:    0x00000045: the application has the status, the connection lives
#          0x00000400: the application has nothing, the connection ends
# Ogene:   as a client it takes such a status for an ambiguous refusal, and logs its number: tests are
#          `every_code_of_the_table_has_its_class` and `the_first_refusal_with_each_status_is_logged_with_its_number`.
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

from aiosmpplib import ESME, PhoneNumber, SubmitSm, SubmitSmResp
from aiosmpplib.hook import AbstractHook

TO = "2348031234567"


class Application(AbstractHook):
    seen = "nothing"

    async def sending(self, smpp_message, pdu, client_id):
        pass

    async def received(self, smpp_message, pdu, client_id):
        if isinstance(smpp_message, SubmitSmResp):
            self.seen = "the status"

    async def send_error(self, smpp_message, error, client_id):
        self.seen = "an error"


async def read(reader):
    length, command, _, sequence = struct.unpack(">IIII", await reader.readexactly(16))
    await reader.readexactly(length - 16)
    return command, sequence


async def refused(status):
    done = asyncio.get_running_loop().create_future()

    async def smsc(reader, writer):
        command, sequence = await read(reader)
        writer.write(struct.pack(">IIII", 20, command | 0x80000000, 0, sequence) + b"MTN\0")
        _, sequence = await read(reader)
        writer.write(struct.pack(">IIII", 17, 0x80000004, status, sequence) + b"\0")
        writer.write(struct.pack(">IIII", 16, 0x15, 0, 7))
        try:
            command, _ = await read(reader)
            end = "the connection lives" if command == 0x80000015 else f"it sends {command:08x}"
        except asyncio.IncompleteReadError:
            end = "the connection ends"
        if not done.done():
            done.set_result(end)

    server = await asyncio.start_server(smsc, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    application = Application()
    esme = ESME("127.0.0.1", port, "ogene", "secret", hook=application, log_level=logging.CRITICAL)
    message = SubmitSm(short_message="Hello", source=PhoneNumber("32811"), destination=PhoneNumber(TO), log_id="1")
    await esme.broker.enqueue(message)
    work = asyncio.create_task(esme.start())
    end = await done
    await asyncio.sleep(0.5)
    work.cancel()
    server.close()
    print(f"{status:#010x}: the application has {application.seen}, {end}")


async def main():
    for status in (0x45, 0x400):
        await refused(status)


asyncio.run(asyncio.wait_for(main(), 60))
PY
PYTHONPATH="$work/python" python3 "$work/finding.py" 2>"$work/log" | tee "$work/seen"
diff "$work/seen" - <<'SEEN' || { cat "$work/log"; echo "aiosmpplib does otherwise now"; exit 1; }
0x00000045: the application has the status, the connection lives
0x00000400: the application has nothing, the connection ends
SEEN

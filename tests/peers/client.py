"""A client of the Python package smpplib: binds to the SMSC at the given port, submits messages to the
given destinations, waits for a receipt of each, and prints one line per receipt: id, stat, recipient.
"""

import re
import sys
import time

import smpplib.client
import smpplib.consts

LONGEST_WAIT_S = 20


def main():
    port, destinations = int(sys.argv[1]), sys.argv[2:]
    client = smpplib.client.Client("127.0.0.1", port, allow_unknown_opt_params=True)
    accepted, receipts = {}, {}

    def on_response(pdu):
        if pdu.status == smpplib.consts.SMPP_ESME_ROK:
            accepted[pdu.sequence] = pdu.message_id.decode()
        else:
            print("refused", hex(pdu.status))

    def on_deliver(pdu):
        text = pdu.short_message.decode()
        found = re.match(r"id:(\S+) .*stat:(\S+) ", text)
        receipts[found.group(1)] = (found.group(2), pdu.source_addr.decode())
        return smpplib.consts.SMPP_ESME_ROK

    client.set_message_sent_handler(on_response)
    client.set_message_received_handler(on_deliver)
    client.connect()
    client.bind_transceiver(system_id="python", password="secret")
    for destination in destinations:
        client.send_message(
            source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
            source_addr="Ogene",
            dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
            dest_addr_npi=smpplib.consts.SMPP_NPI_ISDN,
            destination_addr=destination,
            short_message=b"Kedu?",
            registered_delivery=True,
        )
    until = time.monotonic() + LONGEST_WAIT_S
    while len(receipts) < len(destinations) and time.monotonic() < until:
        client.read_once()
    assert sorted(accepted.values()) == sorted(receipts), (accepted, receipts)
    for message_id, (state, recipient) in receipts.items():
        print(message_id, state, recipient)
    client.unbind()
    client.disconnect()


main()

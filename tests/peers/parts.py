"""A client of the Python package smpplib: binds to the SMPP server at the given host and port, submits
a long text in the parts that the package makes, waits for the receipt of each, unbinds, and prints the
ids of the messages.
"""

import sys

import smpplib.client
import smpplib.consts
import smpplib.gsm

TEXT = "Your order is on its way. " * 8


def main():
    host, port, system_id, password, sender, recipient = sys.argv[1:]
    client = smpplib.client.Client(host, int(port))
    ids, receipts = [], set()
    client.set_message_sent_handler(lambda pdu: ids.append(pdu.message_id.decode()))

    def received(pdu):
        text = pdu.short_message.decode()
        assert " stat:DELIVRD " in text, text
        receipts.add(text[3:].split(" ")[0])

    client.set_message_received_handler(received)
    client.connect()
    client.bind_transceiver(system_id=system_id, password=password)
    parts, coding, esm_class = smpplib.gsm.make_parts(TEXT)
    assert len(parts) == 2, parts
    for part in parts:
        client.send_message(
            source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
            source_addr=sender,
            dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
            dest_addr_npi=smpplib.consts.SMPP_NPI_ISDN,
            destination_addr=recipient,
            short_message=part,
            data_coding=coding,
            esm_class=esm_class,
            registered_delivery=True,
        )
    while len(receipts) < 2:
        client.read_once()
    assert receipts == set(ids), (receipts, ids)
    print("\n".join(ids))
    client.unbind()
    client.disconnect()


main()

"""A client of the Python package smpplib: binds to the SMPP server at the given host and port, submits
one text, waits for its receipt, asks for its state, unbinds, and prints the id of the message.
"""

import sys

import smpplib.client
import smpplib.consts


def main():
    host, port, system_id, password, sender, recipient = sys.argv[1:]
    client = smpplib.client.Client(host, int(port))
    answers, receipts = [], []
    client.set_message_sent_handler(lambda pdu: answers.append(pdu))
    client.set_message_received_handler(lambda pdu: receipts.append(pdu))
    client.set_query_resp_handler(lambda pdu: answers.append(pdu))
    client.connect()
    client.bind_transceiver(system_id=system_id, password=password)
    client.send_message(
        source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
        source_addr=sender,
        dest_addr_ton=smpplib.consts.SMPP_TON_INTL,
        dest_addr_npi=smpplib.consts.SMPP_NPI_ISDN,
        destination_addr=recipient,
        short_message=b"Kedu?",
        registered_delivery=True,
    )
    client.read_once()
    message_id = answers[0].message_id.decode()
    while not receipts:
        client.read_once()
    text = receipts[0].short_message.decode()
    assert text.startswith(f"id:{message_id} ") and " stat:DELIVRD " in text, text
    assert receipts[0].receipted_message_id.rstrip(b"\0") == message_id.encode()
    client.query_message(
        message_id=message_id,
        source_addr_ton=smpplib.consts.SMPP_TON_ALNUM,
        source_addr_npi=0,
        source_addr=sender,
    )
    client.read_once()
    assert answers[1].command == "query_sm_resp", answers
    print(message_id)
    client.unbind()
    client.disconnect()


main()

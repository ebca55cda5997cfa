// An SMSC of the node package `smpp`. It tells its port on the first line, takes every bind and every
// message, and sends a receipt for each message that asks for one. It ends with its standard input.
const smpp = require('smpp');

let last = 0;

const server = smpp.createServer((session) => {
  session.on('error', () => {});
  for (const bind of ['bind_transceiver', 'bind_transmitter', 'bind_receiver']) {
    session.on(bind, (pdu) => {
      if (pdu.password !== 'secret') {
        session.send(pdu.response({ command_status: smpp.ESME_RINVPASWD }));
        return;
      }
      session.send(pdu.response({ system_id: 'node', sc_interface_version: 0x34 }));
    });
  }
  session.on('enquire_link', (pdu) => session.send(pdu.response()));
  session.on('unbind', (pdu) => session.send(pdu.response(), null, () => session.close()));
  session.on('submit_sm', (pdu) => {
    if (pdu.destination_addr.endsWith('99')) {
      session.send(pdu.response({ command_status: smpp.ESME_RINVDSTADR }));
      return;
    }
    last += 1;
    const id = `node-${last}`;
    session.send(pdu.response({ message_id: id }));
    if ((pdu.registered_delivery & 3) === 0) return;
    session.deliver_sm({
      source_addr_ton: pdu.dest_addr_ton,
      source_addr_npi: pdu.dest_addr_npi,
      source_addr: pdu.destination_addr,
      dest_addr_ton: pdu.source_addr_ton,
      dest_addr_npi: pdu.source_addr_npi,
      destination_addr: pdu.source_addr,
      esm_class: 4,
      receipted_message_id: id,
      message_state: 2,
      short_message: {
        message: `id:${id} sub:001 dlvrd:001 submit date:2611201200 done date:2611201201 stat:DELIVRD err:000 text:`,
      },
    });
  });
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit(0));
process.stdin.resume();

// A client of the npm package smpp: binds to the SMPP server at the given host and port, submits one
// text, waits for its receipt, asks for its state, unbinds, and prints the id of the message.
const smpp = require("smpp");

const [host, port, system_id, password, source_addr, destination_addr] = process.argv.slice(2);

function expect(pdu) {
  if (pdu.command_status !== smpp.ESME_ROK) {
    console.error("refused", pdu.command, pdu.command_status);
    process.exit(1);
  }
}

const session = smpp.connect({ url: `smpp://${host}:${port}` });
session.on("error", (error) => {
  console.error(error);
  process.exit(1);
});
session.on("connect", () => {
  session.bind_transceiver({ system_id, password }, (bound) => {
    expect(bound);
    const text = { source_addr, destination_addr, short_message: "Kedu?", registered_delivery: 1 };
    let message_id;
    session.submit_sm(text, (submitted) => {
      expect(submitted);
      message_id = submitted.message_id;
    });
    session.on("deliver_sm", (receipt) => {
      session.send(receipt.response());
      const { message } = receipt.short_message;
      if (!message.startsWith(`id:${message_id} `) || !message.includes(" stat:DELIVRD ")) {
        console.error("another receipt", message);
        process.exit(1);
      }
      session.query_sm({ message_id, source_addr }, (queried) => {
        expect(queried);
        console.log(message_id);
        session.unbind(() => session.close());
      });
    });
  });
});
session.on("close", () => process.exit(0));

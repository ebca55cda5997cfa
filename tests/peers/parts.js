// A client of the npm package smpp: binds to the SMPP server at the given host and port, submits the
// two parts of a text with user data headers, waits for the receipt of each, unbinds, and prints the
// ids of the messages.
const smpp = require("smpp");

const [host, port, system_id, password, source_addr, destination_addr] = process.argv.slice(2);

function fail(...words) {
  console.error(...words);
  process.exit(1);
}

const session = smpp.connect({ url: `smpp://${host}:${port}` });
session.on("error", (error) => fail(error));
session.on("connect", () => {
  session.bind_transceiver({ system_id, password }, (bound) => {
    if (bound.command_status !== smpp.ESME_ROK) fail("refused", bound.command_status);
    const ids = [];
    const receipts = new Set();
    for (const part of [1, 2]) {
      const udh = Buffer.from([5, 0, 3, 7, 2, part]);
      const short_message = { udh, message: `part ${part}` };
      const submit = { source_addr, destination_addr, short_message, registered_delivery: 1 };
      session.submit_sm(submit, (submitted) => {
        if (submitted.command_status !== smpp.ESME_ROK) fail("refused", submitted.command_status);
        ids.push(submitted.message_id);
      });
    }
    session.on("deliver_sm", (receipt) => {
      session.send(receipt.response());
      const { message } = receipt.short_message;
      const id = ids.find((one) => message.startsWith(`id:${one} `));
      if (!id || !message.includes(" stat:DELIVRD ")) fail("another receipt", message);
      receipts.add(id);
      if (receipts.size < 2) return;
      console.log(ids.join("\n"));
      session.unbind(() => session.close());
    });
  });
});
session.on("close", () => process.exit(0));

// Send a message, and print its message_id: node send.mjs RECIPIENT TEXT [CALLBACK_URL]
const { OGENE_URL, OGENE_TOKEN, OGENE_SENDER } = process.env;
const [to, body, callback_url] = process.argv.slice(2);
const response = await fetch(`${OGENE_URL}/api/v2/sms`, {
  method: "POST",
  headers: { Authorization: `Bearer ${OGENE_TOKEN}`, "Content-Type": "application/json" },
  body: JSON.stringify({ from: OGENE_SENDER, to, body, callback_url }),
  signal: AbortSignal.timeout(30_000),
});
const answer = await response.json();
if (answer.code !== "API-0000") {
  console.error(`${answer.code}: ${answer.message}`);
  process.exit(1);
}
console.log(answer.data.message_id);

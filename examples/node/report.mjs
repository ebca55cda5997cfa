// Print each recipient of a message and its status: node report.mjs MESSAGE_ID
const { OGENE_URL, OGENE_TOKEN } = process.env;
for (let page = 1, last = 1; page <= last; page++) {
  const query = new URLSearchParams({ message_id: process.argv[2], page, per_page: 1000 });
  const response = await fetch(`${OGENE_URL}/api/v2/delivery-reports?${query}`, {
    headers: { Authorization: `Bearer ${OGENE_TOKEN}` },
    signal: AbortSignal.timeout(30_000),
  });
  const answer = await response.json();
  if (answer.code !== "API-0000") {
    console.error(`${answer.code}: ${answer.message}`);
    process.exit(1);
  }
  for (const { recipient, delivery_status } of answer.data.reports) {
    console.log(`${recipient} ${delivery_status}`);
  }
  last = answer.data.pagination.last_page;
}

// Receive callbacks, and print each new outcome once: node callback.mjs PORT
import { createHmac, timingSafeEqual } from "node:crypto";
import { createServer } from "node:http";

const secret = process.env.OGENE_CALLBACK_SECRET;
// A callback can arrive twice. A real receiver has a unique key of both in its database.
const seen = new Set();

// Standard Webhooks: HMAC-SHA256 of id, timestamp and body. A timestamp is good for five minutes.
function isGenuine(headers, body) {
  const key = Buffer.from(secret.slice("whsec_".length), "base64");
  const signed = `${headers["webhook-id"]}.${headers["webhook-timestamp"]}.`;
  const expected = createHmac("sha256", key).update(signed).update(body).digest();
  const isFresh = Math.abs(Date.now() / 1000 - Number(headers["webhook-timestamp"])) <= 300;
  return isFresh && (headers["webhook-signature"] ?? "").split(" ").some((signature) => {
    const given = Buffer.from(signature.replace(/^v1,/, ""), "base64");
    return given.length === expected.length && timingSafeEqual(given, expected);
  });
}

const server = createServer(async (request, response) => {
  const chunks = [];
  for await (const chunk of request) chunks.push(chunk);
  const body = Buffer.concat(chunks);
  if (secret && !isGenuine(request.headers, body)) return response.writeHead(401).end();
  let outcome;
  try {
    outcome = JSON.parse(body);
  } catch {
    return response.writeHead(400).end();
  }
  const key = `${outcome.message_id} ${outcome.recipient}`;
  if (!seen.has(key)) {
    seen.add(key);
    console.log(`${key} ${outcome.delivery_status}`);
  }
  response.end();
});
server.listen(Number(process.argv[2]), "127.0.0.1");

// This client sends a message by the types that openapi-typescript writes.
import createClient from "openapi-fetch";
import type { paths } from "./api.js";

declare const process: { env: { OGENE_URL: string; OGENE_TOKEN: string; OGENE_SENDER: string } };

const api = createClient<paths>({
  baseUrl: process.env.OGENE_URL,
  headers: { Authorization: `Bearer ${process.env.OGENE_TOKEN}` },
});

const { data: sent, error } = await api.POST("/api/v2/sms", {
  body: { from: process.env.OGENE_SENDER, to: ["2348031234567"], body: "Hello from TypeScript" },
});
if (!sent) throw new Error(JSON.stringify(error));

// The caller of this program ends it when it takes too long.
for (;;) {
  const { data: report } = await api.GET("/api/v2/delivery-reports", { params: { query: { message_id: sent.data.message_id } } });
  if (report?.data.reports[0]?.delivery_status === "delivrd") break;
  await new Promise((passed) => setTimeout(passed, 100));
}
const { data: balance } = await api.GET("/api/v2/balance");
const total: number = balance!.balance.total_balance;
if (!(total > 0)) throw new Error(`a balance of ${total}`);
const { data: senders } = await api.GET("/api/v2/sender-ids");
const reason: string | null = senders!.data.sender_ids[0]!.rejection_reason;
if (reason !== null) throw new Error(reason);
console.log(`TypeScript: delivered ${sent.data.message_id}`);

// The page /docs as a reader has it: rendered, tried out and narrow. Started by tests/browser/run.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, afterEach, before, beforeEach, test } from "node:test";

const { chromium } = createRequire(new URL("../../target/browser/package.json", import.meta.url))("playwright-core");

// Bounds of every wait, in milliseconds: they end a hang and are never waited out.
const START_LIMIT = 60_000;
const PAGE_LIMIT = 20_000;
const STOP_LIMIT = 15_000;
const TEST_LIMIT = 60_000;

const NARROW = { width: 320, height: 640 };
const PHONE = { width: 390, height: 844 };
const WIDE = { width: 1280, height: 900 };

// No name resolves, so that nothing leaves this machine even where the page is wrong.
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];

const scratch = mkdtempSync(join(tmpdir(), "ogene-browser-"));
let ogene, demo, browser, page, complaints, requested;

// However this ends, the demo and its files end with it. Chromium ends with the pipe that drives it.
process.on("exit", () => {
  ogene?.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
});
for (const [signal, code] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]]) process.on(signal, () => process.exit(code));

/** Starts `ogene demo` on a free port and gives what it prints: url, docs, token, sender_id among it. */
async function startDemo() {
  const { OGENE_CONFIG: _, ...env } = process.env;
  ogene = spawn(process.env.OGENE_BINARY, ["--json", "demo", "--listen", "127.0.0.1:0", "--data-dir", join(scratch, "data")],
    { cwd: scratch, env, stdio: ["ignore", "pipe", "inherit"] });
  return new Promise((done, failed) => {
    setTimeout(() => failed(new Error(`ogene demo printed no address within ${START_LIMIT} ms`)), START_LIMIT).unref();
    ogene.once("error", failed);
    ogene.once("exit", (code, signal) => failed(new Error(`ogene demo ended early: ${code ?? signal}`)));
    let printed = "";
    ogene.stdout.setEncoding("utf8").on("data", (chunk) => {
      printed += chunk;
      // The value spans lines and is whole with the first closing brace at the start of one.
      const end = printed.indexOf("\n}");
      if (end < 0) return;
      ogene.stdout.removeAllListeners("data").resume();
      done(JSON.parse(printed.slice(0, end + 2)));
    });
  });
}

async function stopDemo() {
  if (!ogene || ogene.exitCode !== null || ogene.signalCode !== null) return;
  const ended = once(ogene, "exit", { signal: AbortSignal.timeout(STOP_LIMIT) });
  ogene.kill("SIGTERM");
  await ended;
}

before(async () => {
  demo = await startDemo();
  browser = await chromium.launchPersistentContext(join(scratch, "profile"), {
    executablePath: process.env.CHROMIUM_BIN, args: FLAGS, timeout: START_LIMIT, viewport: WIDE,
    handleSIGHUP: false, handleSIGINT: false, handleSIGTERM: false,
  });
  browser.setDefaultTimeout(PAGE_LIMIT);
}, { timeout: 2 * START_LIMIT });

after(async () => {
  await browser?.close();
  await stopDemo();
}, { timeout: 2 * STOP_LIMIT });

/** Opens the page anew, with a record of what it complains about and asks for. */
beforeEach(async () => {
  complaints = [];
  requested = [];
  page = await browser.newPage();
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (fault) => complaints.push(String(fault)));
  page.on("requestfailed", (request) => complaints.push(`${request.url()}: ${request.failure().errorText}`));
  page.on("request", (request) => requested.push(request.url()));
  await page.goto(demo.docs);
  await page.locator("#errors .fields dt").first().waitFor();
}, { timeout: TEST_LIMIT });

afterEach(async () => {
  await page.close();
  assert.deepEqual(complaints, [], "the page complained");
  assert.deepEqual(requested.filter((url) => new URL(url).origin !== demo.url), [], "the page asked another host");
}, { timeout: TEST_LIMIT });

/** Enters the token, and waits until the page has the sender IDs of its account. */
async function enterToken() {
  await page.locator("#api-token").fill(demo.token);
  await page.locator("#token-about", { hasText: demo.sender_id }).waitFor();
}

/** Enters the token, tries a send and waits for its answer. Each test has a text of its own: repeats are refused. */
async function tryToSend(text) {
  await enterToken();
  const send = page.locator("#send details.trial");
  await send.locator("summary").click();
  assert.equal(await send.locator("#send-from").inputValue(), demo.sender_id, "the sender ID is the account's");
  await send.locator("#send-to").fill("2348000000001");
  await send.locator("#send-body").fill(text);
  await send.getByRole("button", { name: "Send to the sandbox" }).click();
  const answer = send.locator(".answer");
  await answer.locator(".status, p.bad").first().waitFor();
  return answer;
}

test("the page shows every operation and every error code", { timeout: TEST_LIMIT }, async () => {
  const whole = await (await fetch(`${demo.url}/openapi.json`, { signal: AbortSignal.timeout(PAGE_LIMIT) })).json();

  const operations = await page.locator("#operations > section").evaluateAll((sections) => sections.map((one) => one.id));
  assert.deepEqual(operations, ["send", "quote", "report", "balance", "sender-ids", "request-sender-id", "account", "legacy-send"]);
  for (const id of operations) assert.ok(await page.locator(`#${id} .endpoint`).isVisible(), `${id} shows its address`);

  const codes = await page.locator("#error-table dt code").allTextContents();
  assert.ok(codes.length > 0, "there are codes");
  assert.deepEqual(codes, whole["x-errors"].map((error) => error.code));
  assert.ok(await page.locator("#error-table dt").last().isVisible(), "the codes are visible");
});

test("a send that is tried in the sandbox shows its status and body", { timeout: TEST_LIMIT }, async () => {
  const answer = await tryToSend("Hello from a wide screen");

  assert.equal(await answer.locator(".status").textContent(), "200 OK");
  const body = JSON.parse(await answer.locator(".block pre").first().textContent());
  assert.equal(body.status, "success");
  assert.ok(body.data.message_id, "the answer names the message");
  assert.equal(await page.locator("#report-message_id").inputValue(), body.data.message_id, "its report can be asked for next");
  assert.ok(requested.includes(`${demo.url}/api/sandbox/v2/sms`), "the sandbox was asked");
});

test("the page warns of a text that is not sent as it was written", { timeout: TEST_LIMIT }, async () => {
  assert.match(await page.locator("#changed-text.notice").textContent(), /emoji and letters without a Latin equivalent/);
  const answer = await tryToSend("Order 5: مرحبا بك");
  assert.match(await answer.locator(".notice").textContent(), /7 characters were removed/);
});

/** Runs a command line that the page shows; the page leaves the token out of what it shows. */
function run(command) {
  const { stdout, stderr, status } = spawnSync("bash", ["-c", command.replace("Bearer …", `Bearer ${demo.token}`)], { encoding: "utf8", timeout: PAGE_LIMIT });
  assert.equal(status, 0, stderr);
  return JSON.parse(stdout);
}

test("the quickstart's commands work as they are pasted", { timeout: TEST_LIMIT }, async () => {
  const before = await page.locator("#quickstart [data-curl=send] pre").textContent();
  assert.ok(before.includes("YOUR_SENDER_ID"), "without a token no sender ID is made up");
  await enterToken();
  const [senders, send, report] = await page.locator("#quickstart pre").allTextContents();

  const listed = run(senders).data.sender_ids.filter((one) => one.status === "approved").map((one) => one.sender_id);
  assert.ok(listed.includes(demo.sender_id), listed);
  const sent = run(send);
  assert.equal(sent.status, "success", JSON.stringify(sent));
  const read = run(report.replace(/message_id=[0-9a-f-]+/, `message_id=${sent.data.message_id}`));
  assert.equal(read.data.summary.total, 1);
});

test("the page has the prices and limits of this installation", { timeout: TEST_LIMIT }, async () => {
  const whole = await (await fetch(`${demo.url}/openapi.json`, { signal: AbortSignal.timeout(PAGE_LIMIT) })).json();
  const { gateways, limits } = whole["x-installation"];
  const texts = (all) => all.map((row) => [row.querySelector("code").textContent, ...[...row.cells].slice(1).map((cell) => cell.textContent)]);
  const rows = await page.locator("#price-table tbody tr").evaluateAll(texts);
  assert.deepEqual(rows, gateways.map((one) => [one.gateway, `${one.price} NGN`, `${one.unicode_price} NGN`]));
  assert.ok(rows.length > 0);
  const shown = await page.locator("#limit-rows td:first-child").allTextContents();
  assert.deepEqual(shown.sort(), Object.values(limits).map((limit) => limit.toLocaleString("en")).sort());
});

for (const screen of [NARROW, PHONE, WIDE]) {
  test(`at ${screen.width} px nothing is wider than the screen, opened and answered`, { timeout: TEST_LIMIT }, async () => {
    await page.setViewportSize(screen);
    const answer = await tryToSend(`Hello from ${screen.width} pixels`);
    assert.equal(await answer.locator(".status").textContent(), "200 OK");
    await page.locator("details").evaluateAll((all) => all.forEach((one) => { one.open = true; }));

    const { width, wider } = await page.evaluate((limit) => {
      // An element that scrolls within itself, like a table, may be wider inside.
      const scrolls = (one) => ["auto", "scroll"].includes(getComputedStyle(one).overflowX);
      const within = (one) => one.parentElement && (scrolls(one.parentElement) || within(one.parentElement));
      const wider = [...document.body.querySelectorAll("*")]
        .filter((one) => one.getBoundingClientRect().right > limit + 0.5 && !within(one))
        .map((one) => `${one.tagName.toLowerCase()}: ${one.textContent.slice(0, 60)}`);
      return { width: document.documentElement.scrollWidth, wider };
    }, screen.width);
    assert.deepEqual(wider, []);
    assert.equal(width, screen.width);
    if (screen.width >= PHONE.width) {
      const tables = await page.locator(".scroll").evaluateAll((all) => all.map((one) => [one.getAttribute("aria-label"), one.scrollWidth - one.clientWidth]));
      assert.deepEqual(tables.filter(([, hidden]) => hidden > 0), [], "a phone shows tables whole");
    }
    if (process.env.OGENE_SCREENSHOTS) await page.screenshot({ path: join(process.env.OGENE_SCREENSHOTS, `docs-${screen.width}.png`), fullPage: true });
  });
}

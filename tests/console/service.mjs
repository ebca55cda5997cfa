// The first run of an operator, and passkeys, by clicks and by keys over a running service. Started by tests/console/run.
import assert from "node:assert/strict";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { PAGE_LIMIT, SHOTS, START_LIMIT, TEST_LIMIT, configure, freePort, launch, run, serve, stop } from "./kit.mjs";

// The clicks that lead from nothing to a message on a simulated phone, and on to a bound carrier.
const MAX_CLICKS = 25;
const EMAIL = "ada@example.ng";
const PASSWORD = "correct horse battery";

let browser, origin, port, service, smsc, link;

/** Opens a page that counts clicks: of buttons and links, and one for each field that is filled in. */
async function open(options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, ...options });
  context.setDefaultTimeout(PAGE_LIMIT);
  const page = await context.newPage();
  const visit = { context, page, clicks: 0, complaints: [] };
  page.on("console", (message) => { if (message.type() === "error") visit.complaints.push(message.text()); });
  page.on("pageerror", (error) => visit.complaints.push(String(error)));
  visit.click = async (role, name) => {
    visit.clicks += 1;
    await page.getByRole(role, { name, exact: true }).click();
  };
  visit.fill = async (label, text, within = page) => {
    visit.clicks += 1;
    await within.getByLabel(label, { exact: true }).fill(text);
  };
  visit.go = (path) => page.goto(origin + path);
  return visit;
}

async function signIn(visit) {
  await visit.go("/sign-in");
  await visit.fill("E-mail address", EMAIL);
  await visit.fill("Password", PASSWORD);
  await visit.click("button", "Sign in");
  await visit.page.waitForURL(/\/(console|operator)\//);
}

/** Gives a page an authenticator with a lock that its user opens at once. */
async function authenticator({ context, page }) {
  const session = await context.newCDPSession(page);
  await session.send("WebAuthn.enable");
  const options = {
    protocol: "ctap2", transport: "internal", hasResidentKey: true, hasUserVerification: true, isUserVerified: true,
    automaticPresenceSimulation: true,
  };
  const { authenticatorId } = await session.send("WebAuthn.addVirtualAuthenticator", { options });
  const passkeys = async () => (await session.send("WebAuthn.getCredentials", { authenticatorId })).credentials;
  return { passkeys };
}

before(async () => {
  port = await freePort();
  origin = `http://localhost:${port}`;
  configure(port, "");
  ({ service, link } = await serve());
  browser = await launch();
}, { timeout: 3 * START_LIMIT });

after(async () => {
  await browser?.close();
  await stop();
}, { timeout: START_LIMIT });

test("the first run leads to a simulated phone and a bound carrier in 25 clicks", { timeout: TEST_LIMIT }, async (t) => {
  const visit = await open();
  const { page } = visit;
  visit.clicks += 1;
  await page.goto(link);
  await visit.fill("E-mail address", EMAIL);
  await visit.fill("Your name", "Ada");
  const password = page.locator("input[type=password]");
  visit.clicks += 1;
  await password.fill(PASSWORD);
  await visit.click("button", "Become the operator");
  await visit.fill("Name of the account", "Ada Stores");
  await visit.fill("Sender ID", "AdaStores");
  await visit.click("button", "Create it and open the sandbox");
  await page.getByText("Send your first message to a simulated phone.").waitFor();
  await visit.click("button", "Review the send");
  await visit.click("button", "Send now");
  await page.getByText("The message was accepted").waitFor();
  await visit.click("link", "Simulated phones");
  await page.getByText("Hello from the sandbox.").first().waitFor();
  t.diagnostic(`${visit.clicks} clicks to the message on a simulated phone`);

  // A carrier is a section of the configuration. The console shows when it is bound.
  smsc = await freePort();
  run("smsc", "--listen", `127.0.0.1:${smsc}`);
  configure(port, `[carriers.mtn]\naddress = "127.0.0.1:${smsc}"\nsystem_id = "ogene"\npassword = "secret"\n[gateways.direct-refund]\ncarriers = ["mtn"]\nprice = "6.00"\n`);
  service.kill("SIGHUP");
  await page.locator("a.user-name").click();
  visit.clicks += 1;
  await visit.click("button", "Open");
  await visit.click("link", "Carriers");
  const bound = page.getByRole("row", { name: /mtn.*[1-9]\d* of \d+ bound/ });
  const end = Date.now() + PAGE_LIMIT;
  while (!(await bound.isVisible()) && Date.now() < end) await page.reload();
  assert.ok(await bound.isVisible(), await page.locator("main").innerText());
  t.diagnostic(`${visit.clicks} clicks to the bound carrier`);
  assert.ok(visit.clicks <= MAX_CLICKS, `${visit.clicks} clicks`);
  assert.deepEqual(visit.complaints, []);
  await visit.context.close();
});

test("a passkey is made, signs in by a click and by keys, and is removed", { timeout: TEST_LIMIT }, async () => {
  const visit = await open();
  const { page } = visit;
  const { passkeys } = await authenticator(visit);
  await signIn(visit);
  await visit.go("/console/profile");
  const add = page.locator("form[action='/console/profile/passkeys/begin']");
  await visit.fill("Name", "Laptop", add);
  await visit.fill("Current password", PASSWORD, add);
  await visit.click("button", "Add a passkey");
  await page.getByRole("button", { name: "Make the passkey" }).waitFor();
  await page.screenshot({ path: join(SHOTS, "passkey-add.png") });
  await visit.click("button", "Make the passkey");
  await page.getByText("The passkey was added").waitFor();
  await page.getByRole("cell", { name: "Laptop" }).waitFor();
  const [made] = await passkeys();
  assert.ok(made.isResidentCredential && made.rpId === "localhost");

  await visit.click("button", "Sign out");
  await page.waitForURL(/\/sign-in/);
  await page.screenshot({ path: join(SHOTS, "passkey-sign-in.png") });
  await visit.click("button", "Sign in with a passkey");
  await page.waitForURL(/\/(console|operator)\//);
  await visit.click("button", "Sign out");
  await page.waitForURL(/\/sign-in/);
  await page.getByRole("button", { name: "Sign in with a passkey" }).focus();
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/(console|operator)\//);
  assert.equal((await passkeys())[0].signCount, made.signCount + 2);

  await visit.go("/console/profile");
  const remove = page.locator("form[action='/console/profile/passkeys/remove']");
  await visit.fill("Current password", PASSWORD, remove);
  await visit.click("button", "Remove it");
  await page.getByText("The passkey was removed").waitFor();
  await visit.click("button", "Sign out");
  await page.waitForURL(/\/sign-in/);
  // The answers of removed passkeys and of refused sign-ins have status 422, which a browser logs as an error.
  assert.deepEqual(visit.complaints, []);
  await visit.click("button", "Sign in with a passkey");
  await page.getByText("The passkey was not accepted.").waitFor();
  await page.screenshot({ path: join(SHOTS, "passkey-refused.png") });
  await visit.context.close();
});

test("without script a passkey is not offered, and the password signs in", { timeout: TEST_LIMIT }, async () => {
  const visit = await open({ javaScriptEnabled: false });
  await visit.go("/sign-in");
  assert.equal(await visit.page.locator("form[data-passkey]").isVisible(), false);
  await signIn(visit);
  await visit.go("/console/profile");
  const add = visit.page.locator("form[action='/console/profile/passkeys/begin']");
  await visit.fill("Name", "Laptop", add);
  await visit.fill("Current password", PASSWORD, add);
  await visit.click("button", "Add a passkey");
  await visit.page.getByText("Your browser makes passkeys by a script").waitFor();
  assert.equal(await visit.page.locator("form[data-passkey]").isVisible(), false);
  await visit.context.close();
});

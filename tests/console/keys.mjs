// Each main task of customers and operators by the keyboard alone, over a running service with an SMSC. The tasks follow
// each other as on a new installation. Started by tests/console/run.
import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { keyboard } from "./keyboard.mjs";
import { PAGE_LIMIT, START_LIMIT, TEST_LIMIT, configure, freePort, launch, run, scratch, serve, stop, until } from "./kit.mjs";

const PASSWORD = "correct horse battery";
const SENDER = "KeyShop";
const NUMBER = "2348031234567";
const DAY_MS = 86_400_000;
// Bytes a second of a slow upload, and the size of its file.
const SLOW = 200 * 1024;
const LARGE = 3_000_000;

let browser, link, operator, customer;

/** Opens a page whose complaints fail the test. */
async function open(path) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, locale: "en-US" });
  context.setDefaultTimeout(PAGE_LIMIT);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(path);
  return { page, complaints, keys: keyboard(page) };
}

/** A task. What the browser complains about fails it. */
function task(name, run) {
  test(name, { timeout: TEST_LIMIT }, async (t) => {
    await run(t);
    for (const visit of [operator, customer]) assert.deepEqual(visit?.complaints ?? [], []);
  });
}

const row = (visit, name) => visit.page.getByRole("row", { name });

before(async () => {
  const port = await freePort();
  const smsc = await freePort();
  run("smsc", "--listen", `127.0.0.1:${smsc}`);
  const gateways = ["direct-refund", "direct-corporate", "otp"].map((name) => `[gateways.${name}]\ncarriers = ["mtn"]\nprice = "6.00"\n`);
  configure(port, `[carriers.mtn]\naddress = "127.0.0.1:${smsc}"\nsystem_id = "ogene"\npassword = "secret"\n${gateways.join("")}`);
  ({ link } = await serve());
  browser = await launch();
}, { timeout: 3 * START_LIMIT });

after(async () => {
  await browser?.close();
  await stop();
}, { timeout: START_LIMIT });

task("an operator sets up the console, makes an account, credits it and invites its owner", async () => {
  operator = await open(link);
  const { keys, page } = operator;
  await keys.type("E-mail address", "ada@example.ng");
  await keys.type("Your name", "Ada");
  await keys.type("Password", PASSWORD);
  await keys.follow("button", "Become the operator");
  await keys.go("Accounts");
  await keys.follow("link", "Create an account");
  await keys.type("Name", "Key Shop");
  await keys.type("E-mail address", "shop@example.ng");
  await keys.follow("button", "Create account");
  await keys.shows("The account was created.");
  await keys.type("Amount in naira", "1000.00");
  await keys.type("Reference", "transfer 1");
  await keys.follow("button", "Add credit");
  await keys.shows("The balance is ₦1,000.00 now.");
  await keys.type("E-mail address", "uche@example.ng");
  await keys.choose("Role", "Owner");
  await keys.follow("button", "Invite user");
  const text = await page.getByRole("status").filter({ hasText: "/links/" }).innerText();
  [link] = text.match(/http:\/\/localhost:\d+\/links\/[\w-]{43}/);
});

task("an owner joins by the link, signs out, and signs in", async () => {
  customer = await open(link);
  const { keys } = customer;
  await keys.type("Your name", "Uche");
  await keys.type("Password", PASSWORD);
  await keys.follow("button", "Join");
  await keys.shows("Key Shop");
  await keys.follow("button", "Sign out");
  await keys.type("E-mail address", "uche@example.ng");
  await keys.type("Password", PASSWORD);
  await keys.follow("button", "Sign in");
  await keys.shows("Key Shop");
});

task("a sender ID is asked for, and approved", async () => {
  const { keys, page } = customer;
  await keys.go("Sender IDs");
  await keys.follow("link", "Request a sender ID");
  await keys.type("Sender ID", SENDER);
  await keys.type("Purpose", "Receipts of the shop");
  await keys.follow("button", "Request sender ID");
  await keys.shows("waits for the decision");
  await operator.keys.go("Sender IDs");
  await operator.keys.confirm("Approve", row(operator, SENDER));
  await operator.keys.shows(`${SENDER} is approved.`);
  await until("the form of the send has the sender ID", async () => {
    await keys.go("Send");
    return page.getByLabel("Sender ID").locator("option", { hasText: SENDER }).count();
  });
});

task("a text is counted, reviewed and sent", async () => {
  const { keys, page } = customer;
  await keys.choose("Sender ID", SENDER);
  await keys.type("Recipients", "08031234567, 08021234568");
  await keys.type("Text", "Your parcel is here.");
  await keys.choose("Gateway", "Direct, failed ones");
  await page.getByText("Balance after").waitFor();
  await keys.follow("button", "Review the send");
  await keys.shows("Send to 2 recipients?");
  await keys.follow("button", "Send now");
  await keys.shows("The message was accepted");
});

task("a message is found by its number, and its timeline opened", async () => {
  const { keys } = customer;
  await until("the message has its receipts", async () => {
    await keys.go("Messages");
    return row(customer, /Completed/).count();
  });
  await keys.type(/^Number/, "08031234567");
  await keys.follow("button", "Search");
  await keys.follow("link", SENDER, row(customer, /Your parcel is here/));
  await keys.follow("link", NUMBER);
  for (const event of ["Accepted", "Submitted", "Receipt", "Settled"]) await keys.shows(event);
});

task("a send is scheduled, and cancelled", async () => {
  const { keys } = customer;
  await keys.go("Send");
  await keys.choose("Sender ID", SENDER);
  await keys.type("Recipients", NUMBER);
  await keys.type("Text", "It goes out tomorrow.");
  const [year, month, day] = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10).split("-");
  await keys.typeTime(/^Send at/, `${month}${day}${year}`);
  await keys.press("Tab");
  await customer.page.keyboard.type("1030AM");
  await keys.follow("button", "Review the send");
  await keys.shows(`It goes out on ${year}-${month}-${day} 10:30`);
  await keys.follow("button", "Send now");
  await keys.shows("The message is scheduled for");
  await keys.confirm("Cancel the message");
  await keys.shows("The message was cancelled for 1 recipient");
});

task("a file is uploaded, its column chosen, and sent with placeholders", async () => {
  const { keys, page } = customer;
  const file = join(scratch, "guests.csv");
  writeFileSync(file, "Old,Name,New\n08031110001,Ada,08051234567\n08031110002,Uche,08051234568\n");
  await keys.go("Send");
  await keys.follow("link", "Send to a file");
  await keys.attach("File", file);
  await keys.enter("button", "Upload the file");
  await keys.shows("guests.csv was read: 3 rows.");
  await keys.chooseAndFollow("Column of the numbers", "C");
  await keys.choose("Sender ID", SENDER);
  await keys.type("Text", "Dear {Name}, welcome.");
  await page.getByText("Balance after").waitFor();
  await keys.follow("button", "Review the send");
  await keys.shows("Dear Uche, welcome.");
  assert.equal(await row(customer, /2348051234568/).count(), 1, "the chosen column has the numbers");
  await keys.follow("button", "Send now");
  await keys.shows("The message was accepted.");
});

task("a slow upload shows its progress, and is cancelled", async () => {
  const { keys, page } = customer;
  const file = join(scratch, "large.csv");
  writeFileSync(file, "Phone\n" + "08031234567\n".repeat(LARGE / 12));
  await keys.go("Send");
  await keys.follow("link", "Send to a file");
  const network = await page.context().newCDPSession(page);
  const limit = (uploadThroughput) => network.send("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput });
  await limit(SLOW);
  await keys.attach("File", file);
  await keys.enter("button", "Upload the file");
  await keys.shows(/^[1-9]\d? % sent$/);
  const bar = await page.getByRole("progressbar").evaluate((one) => one.position);
  assert.ok(bar > 0 && bar < 1, `the bar is at ${bar}`);
  await keys.enter("button", "Cancel the upload");
  await keys.shows("The upload was cancelled. Nothing was kept.");
  await limit(-1);
  await network.detach();
  await keys.go("Send");
  await keys.follow("link", "Send to a file");
  await keys.shows("guests.csv");
  assert.equal(await page.getByText("large.csv").count(), 0);
});

task("a token and an SMPP user are made and shown once, and revoked", async () => {
  const { keys, page } = customer;
  for (const [section, create, name, kind] of [
    ["API tokens", "Create a token", "Website", "token"], ["SMPP users", "Create an SMPP user", /Not bound/, "SMPP user"],
  ]) {
    await keys.go(section);
    await keys.follow("link", create);
    if (kind === "token") await keys.type("Name", name);
    await keys.follow("button", `Create ${kind}`);
    await keys.shows("It is shown once");
    const secret = await page.locator("#secret").innerText();
    await page.reload();
    assert.equal(await page.getByText(secret).count(), 0, "a reload shows the secret no second time");
    assert.equal(await row(customer, name).count(), 1, `a reload makes no other ${kind}`);
    await page.setViewportSize({ width: 390, height: 844 });
    const right = (locator) => locator.evaluate((one) => one.getBoundingClientRect().right);
    const cut = await right(row(customer, name).getByRole("button", { name: "Revoke" })) - await right(page.locator(".table-wrap"));
    await page.setViewportSize({ width: 1280, height: 900 });
    assert.ok(cut <= 0, `at 390 px the button Revoke of ${section} is cut by ${cut} px`);
    await keys.confirm("Revoke", row(customer, name));
    await keys.shows(`The ${kind} was revoked.`);
  }
});

task("a group of contacts is kept, changed and sent to", async () => {
  const { keys } = customer;
  await keys.go("Contacts");
  await keys.follow("link", "Create a group");
  await keys.type("Name", "Kano");
  await keys.follow("button", "Create group");
  await keys.type("Numbers", "08031234567, Ada\n08031234568, Uche");
  await keys.follow("button", "Add contacts");
  await keys.shows("2 contacts were added.");
  await keys.confirm("Remove", row(customer, /2348031234568/));
  await keys.shows("The contact was removed.");
  await keys.follow("link", "Send to the group");
  await keys.shows("This draft is for the 1 contact of Kano.");
});

task("a top-up is paid in the sandbox", async () => {
  const { keys } = customer;
  await keys.switchTo("Sandbox");
  await keys.go("Top-ups");
  await keys.follow("link", "Top up");
  await keys.type("Amount in naira", "1000");
  await keys.follow("button", "Review the top-up");
  await keys.follow("button", "Make the top-up");
  await keys.follow("link", /^Pay ₦/);
  await keys.follow("button", "Pay");
  await keys.shows("no money moved, and nothing was credited");
  await keys.switchTo("Live");
});

task("a user is invited", async () => {
  const { keys } = customer;
  await keys.go("Team");
  await keys.type("E-mail address", "bisi@example.ng");
  await keys.choose("Role", "Viewer");
  await keys.follow("button", "Make an invitation");
  await keys.shows("Give this link to bisi@example.ng.");
});

task("a sub-account is made, and money moved to it", async () => {
  const { keys, page } = customer;
  await keys.go("Sub-accounts");
  await keys.follow("link", "Create a sub-account");
  await keys.type("Name", "Ada Foods");
  await keys.type("E-mail address", "foods@example.ng");
  await keys.follow("button", "Create sub-account");
  await keys.shows("It is shown once");
  await keys.follow("link", "Ada Foods", row(customer, /Ada Foods/));
  await keys.type("Amount in naira", "40.00");
  await keys.follow("button", "Transfer");
  await page.locator(".figure", { hasText: "Balance" }).filter({ hasText: "₦40.00" }).waitFor();
});

task("a carrier is paused and resumed, and a number traced", async () => {
  const { keys, page } = operator;
  await keys.go("Carriers");
  await keys.follow("link", "mtn");
  await keys.confirm("Pause");
  await page.getByRole("button", { name: "Resume" }).first().waitFor();
  await keys.confirm("Resume");
  await page.getByRole("button", { name: "Pause" }).first().waitFor();
  await keys.go("Carriers");
  await keys.follow("link", "Trace a number");
  await keys.type("Number", "08031234567");
  await keys.follow("button", "Trace");
  await keys.shows("direct-refund");
});

task("a phrase is prohibited, and a text tested with it", async () => {
  const { keys } = operator;
  await keys.go("Content rules");
  await keys.follow("link", "Prohibit a phrase");
  await keys.type("Phrase", "free money");
  await keys.follow("button", "Prohibit phrase");
  await keys.follow("link", "Test a text");
  await keys.type("Text", "Get FREE money now");
  await keys.follow("button", "Test");
  await keys.shows("The text is refused for the phrase “free money”.");
  await keys.go("Content rules");
  await keys.confirm("Remove", row(operator, /free money/));
  await keys.shows("The phrase is no longer prohibited.");
});

task("the books are verified", async () => {
  const { keys, page } = operator;
  await keys.go("Verify");
  await keys.follow("button", "Verify now");
  await until("the verification has ended", async () => {
    await keys.go("Verify");
    return page.getByText("All is well").count();
  });
});

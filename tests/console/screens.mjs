// The screens of the console as readers have them: wide and narrow, light and dark, by keyboard and without script.
// They are the gallery of the crate console, served with the headers of the service. Started by tests/console/run.
import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, statSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";

const HOME = new URL("../../target/console/", import.meta.url).pathname;
const require = createRequire(join(HOME, "package.json"));
const { chromium } = require("playwright-core");
const AXE = readFileSync(require.resolve("axe-core/axe.min.js"), "utf8");

const GALLERY = join(HOME, "gallery");
const SHOTS = join(HOME, "shots");
const NAMES = readdirSync(GALLERY).filter((file) => file.endsWith(".html")).map((file) => file.slice(0, -5));
// Screens that stand inside the frame have the navigation.
const FRAMED = NAMES.filter((name) => readFileSync(join(GALLERY, `${name}.html`), "utf8").includes('id="menu"'));

const WIDTHS = [1280, 768, 360];
const THEMES = ["light", "dark"];
const HEIGHT = 900;
const RULES = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

// Bytes that a browser receives for a screen with everything that it loads, and for scripts alone.
const MAX_BYTES = 100 * 1024;
const MAX_SCRIPT_BYTES = 40 * 1024;

// Bounds of every wait, in milliseconds: they end a hang and are never waited out.
const START_LIMIT = 60_000;
const PAGE_LIMIT = 60_000;
const TEST_LIMIT = 300_000;

// No name resolves, so that nothing leaves this machine even where a screen is wrong.
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
];
const TYPES = { ".html": "text/html; charset=utf-8", ".css": "text/css; charset=utf-8", ".js": "text/javascript; charset=utf-8", ".svg": "image/svg+xml" };

const scratch = mkdtempSync(join(tmpdir(), "ogene-console-"));
const sent = new Map();
let browser, origin, server;

process.on("exit", () => rmSync(scratch, { recursive: true, force: true, maxRetries: 3 }));
for (const [signal, code] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]]) process.on(signal, () => process.exit(code));

/** Serves the gallery. Files of which a compressed form exists are sent compressed. */
function answer(request, response) {
  const path = join(GALLERY, new URL(request.url, "http://host").pathname);
  // A live part asks for its numbers again. The answer without content leaves it as it is.
  if (request.headers["hx-request"]) return response.writeHead(204).end();
  if (!path.startsWith(GALLERY) || !statSync(path, { throwIfNoEntry: false })?.isFile()) return response.writeHead(404).end();
  const isCompressed = existsSync(`${path}.gz`);
  const content = readFileSync(isCompressed ? `${path}.gz` : path);
  const headers = { "content-type": TYPES[extname(path)], "content-security-policy": readFileSync(join(GALLERY, "policy"), "utf8") };
  if (isCompressed) headers["content-encoding"] = "gzip";
  sent.set(path, content.length);
  return response.writeHead(200, headers).end(content);
}

/** Opens a screen and collects what the browser complains about. */
async function open(name, options) {
  const context = await browser.newContext({ viewport: { width: 1280, height: HEIGHT }, ...options });
  context.setDefaultTimeout(PAGE_LIMIT);
  const page = await context.newPage();
  const complaints = [];
  page.on("console", (message) => { if (message.type() === "error") complaints.push(message.text()); });
  page.on("pageerror", (error) => complaints.push(String(error)));
  await page.goto(`${origin}/${name}.html`);
  return { context, page, complaints };
}

before(async () => {
  mkdirSync(SHOTS, { recursive: true });
  server = createServer(answer).listen(0, "127.0.0.1");
  await new Promise((done) => server.once("listening", done));
  origin = `http://127.0.0.1:${server.address().port}`;
  browser = await chromium.launch({ executablePath: process.env.CHROMIUM_BIN, args: FLAGS, timeout: START_LIMIT });
}, { timeout: START_LIMIT });

after(async () => {
  await browser?.close();
  server?.close();
});

for (const name of NAMES) {
  for (const theme of THEMES) {
    test(`${name} has no barrier and no overflow in ${theme} colours`, { timeout: TEST_LIMIT }, async () => {
      const { context, page, complaints } = await open(name, { colorScheme: theme });
      await page.evaluate(AXE);
      for (const width of WIDTHS) {
        await page.setViewportSize({ width, height: HEIGHT });
        await page.screenshot({ path: join(SHOTS, `${name}-${theme}-${width}.png`), fullPage: true });
        const overflow = await page.evaluate(() => document.documentElement.scrollWidth - innerWidth);
        assert.ok(overflow <= 0, `${width} px: the screen is ${overflow} px wider than the window`);
        const found = await page.evaluate((tags) => globalThis.axe.run({ runOnly: tags }), RULES);
        const barriers = found.violations.map((rule) => `${rule.id}: ${rule.nodes.map((node) => node.html).join(" | ").slice(0, 400)}`);
        assert.deepEqual(barriers, [], `${width} px`);
        assert.deepEqual(complaints, [], `${width} px`);
      }
      await context.close();
    });
  }

  test(`${name} weighs at most 100 KB, and 40 KB of script`, { timeout: TEST_LIMIT }, async () => {
    sent.clear();
    const { context, page } = await open(name);
    await page.waitForLoadState("load");
    const bytes = [...sent].map(([path, count]) => ({ isScript: path.endsWith(".js"), count }));
    const sum = (files) => files.reduce((total, file) => total + file.count, 0);
    assert.ok(sum(bytes) > 0 && sum(bytes) <= MAX_BYTES, `${sum(bytes)} bytes`);
    assert.ok(sum(bytes.filter((file) => file.isScript)) <= MAX_SCRIPT_BYTES);
    await context.close();
  });
}

test("the class of the root chooses the colours against the browser's setting", { timeout: TEST_LIMIT }, async () => {
  const { context, page } = await open(FRAMED[0], { colorScheme: "light" });
  const ground = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const light = await ground();
  await page.evaluate(() => { document.documentElement.className = "dark"; });
  assert.notEqual(await ground(), light);
  await context.close();
});

test("the first key leads to a link that skips the navigation", { timeout: TEST_LIMIT }, async () => {
  for (const name of FRAMED) {
    const { context, page } = await open(name);
    await page.keyboard.press("Tab");
    assert.equal(await page.evaluate(() => document.activeElement.className), "skip", name);
    await page.keyboard.press("Enter");
    assert.equal(await page.evaluate(() => document.activeElement.id), "content", name);
    await context.close();
  }
});

test("every control is reached by keys, and shows its focus", { timeout: TEST_LIMIT }, async () => {
  for (const name of NAMES) {
    const { context, page } = await open(name);
    const controls = await page.evaluate(() => {
      const all = document.querySelectorAll("a[href], button, input:not([type=hidden]), select, textarea, summary");
      return [...all].filter((one) => one.checkVisibility({ visibilityProperty: true })).length;
    });
    const reached = new Set();
    for (let press = 0; press <= controls + 20; press += 1) {
      await page.keyboard.press("Tab");
      const focus = await page.evaluate(() => {
        const one = document.activeElement;
        if (!one || one === document.body) return null;
        one.dataset.at ??= String(document.querySelectorAll("[data-at]").length);
        const style = getComputedStyle(one);
        return { at: one.dataset.at, html: one.outerHTML.slice(0, 120), isShown: style.outlineStyle !== "none" && parseFloat(style.outlineWidth) > 0 };
      });
      if (!focus) continue;
      assert.ok(focus.isShown, `${name}: no ring around ${focus.html}`);
      reached.add(focus.at);
    }
    // One of the radio buttons of a group takes the focus for all.
    const radios = await page.locator("input[type=radio]").count();
    assert.ok(reached.size >= controls - radios, `${name}: ${reached.size} of ${controls} controls`);
    await context.close();
  }
});

test("the navigation opens and closes on a narrow screen, by keys and without script", { timeout: TEST_LIMIT }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { context, page } = await open(FRAMED[0], { viewport: { width: 360, height: HEIGHT }, javaScriptEnabled });
    const entry = page.locator("#menu nav a").first();
    assert.equal(await entry.isVisible(), false);
    await page.locator("button[popovertarget=menu]").press("Enter");
    await entry.waitFor({ state: "visible" });
    await page.screenshot({ path: join(SHOTS, `menu-${javaScriptEnabled ? "script" : "plain"}-360.png`) });
    await page.keyboard.press("Escape");
    await entry.waitFor({ state: "hidden" });
    await context.close();
  }
});

test("a dialog asks once more, without script too", { timeout: TEST_LIMIT }, async () => {
  for (const javaScriptEnabled of [true, false]) {
    const { context, page } = await open("parts", { javaScriptEnabled });
    const dialog = page.locator("#revoke");
    await page.locator("button[popovertarget=revoke]").first().click();
    await dialog.waitFor({ state: "visible" });
    await page.screenshot({ path: join(SHOTS, `dialog-${javaScriptEnabled ? "script" : "plain"}.png`) });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await dialog.waitFor({ state: "hidden" });
    await context.close();
  }
});

test("a transfer is filled in by clicks and by keys, and carries its reference", { timeout: TEST_LIMIT }, async () => {
  for (const byKeys of [false, true]) {
    const { context, page } = await open("sub-account");
    const form = page.locator("form[action$='/transfer']");
    if (byKeys) {
      await form.locator("input[value=to_sub]").focus();
      for (const key of ["ArrowDown", "Tab"]) await page.keyboard.press(key);
      await page.keyboard.type("40.00");
    } else {
      await form.getByText("Back from Ada Foods").click();
      await form.getByLabel("Amount in naira").fill("40.00");
    }
    const sent = await form.evaluate((one) => one.checkValidity() && Object.fromEntries(new FormData(one)));
    assert.equal(sent.direction, "from_sub");
    assert.equal(sent.amount, "40.00");
    assert.match(sent.reference, /^console-./);
    await context.close();
  }
});

test("the scopes of a token are ticked by clicks and by keys", { timeout: TEST_LIMIT }, async () => {
  const { context, page } = await open("form");
  const boxes = ["Scope send", "Scope read"].map((label) => page.getByLabel(label));
  const ticked = () => Promise.all(boxes.map((box) => box.isChecked()));
  assert.deepEqual(await ticked(), [false, true]);
  await boxes[0].click();
  await boxes[1].press("Space");
  assert.deepEqual(await ticked(), [true, false]);
  await context.close();
});

test("a hostile text runs nowhere", { timeout: TEST_LIMIT }, async () => {
  const { context, page, complaints } = await open("hostile");
  page.on("dialog", () => complaints.push("a dialog"));
  await page.waitForLoadState("load");
  assert.equal(await page.locator("img[src=x], script:not([src])").count(), 0);
  assert.deepEqual(complaints, []);
  await context.close();
});

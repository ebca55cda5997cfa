// A service of a test's own, its SMSC, and a browser. They end with the test.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

const HOME = new URL("../../target/console/", import.meta.url).pathname;
const { chromium } = createRequire(join(HOME, "package.json"))("playwright-core");
export const SHOTS = join(HOME, "shots");

// Bounds of every wait, in milliseconds: they end a hang and are never waited out.
export const START_LIMIT = 60_000;
export const PAGE_LIMIT = 30_000;
export const TEST_LIMIT = 120_000;
const STOP_LIMIT = 15_000;
const LOOK_INTERVAL = 50;

// No name resolves, so that nothing leaves this machine even where a page is wrong.
const FLAGS = [
  "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1, EXCLUDE localhost",
];

export const scratch = mkdtempSync(join(tmpdir(), "ogene-service-"));
const started = [];
let log = "";

process.on("exit", () => {
  for (const one of started) one.kill("SIGKILL");
  rmSync(scratch, { recursive: true, force: true, maxRetries: 3 });
});
for (const [signal, code] of [["SIGHUP", 129], ["SIGINT", 130], ["SIGTERM", 143]]) process.on(signal, () => process.exit(code));

export async function freePort() {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address();
  server.close();
  await once(server, "close");
  return port;
}

/** Starts `ogene` with these words. It ends with the test. */
export function run(...words) {
  const { OGENE_CONFIG: _, ...env } = process.env;
  const child = spawn(process.env.OGENE_BINARY, words, { cwd: scratch, env, stdio: ["ignore", "pipe", "pipe"] });
  started.push(child);
  for (const stream of [child.stdout, child.stderr]) stream.setEncoding("utf8").on("data", (text) => { log += text; });
  return child;
}

/** Waits until a condition returns something. */
export async function until(what, look) {
  const end = Date.now() + PAGE_LIMIT;
  for (;;) {
    const found = await look();
    if (found) return found;
    assert.ok(Date.now() < end, `waited in vain until ${what}`);
    await new Promise((done) => setTimeout(done, LOOK_INTERVAL));
  }
}

/** Writes the configuration of a service at this port. `more` has further sections. */
export function configure(port, more) {
  const http = `[http]\nlisten = "127.0.0.1:${port}"\npublic_url = "http://localhost:${port}"\n`;
  writeFileSync(join(scratch, "ogene.toml"), `data_dir = "data"\n${http}${more}`);
}

/** Starts the service. Returns its process, and the link of the first operator. */
export async function serve() {
  const service = run("--config", "ogene.toml", "serve");
  const found = await until("the log has a link", () => log.match(/http:\/\/localhost:\d+\/links\/[\w-]{43}/) ?? ended(service));
  return { service, link: found[0] };
}

function ended(service) {
  assert.equal(service.exitCode, null, `the service ended:\n${log}`);
}

export async function launch() {
  mkdirSync(SHOTS, { recursive: true });
  return chromium.launch({ executablePath: process.env.CHROMIUM_BIN, args: FLAGS, timeout: START_LIMIT });
}

/** Ends all processes as SIGTERM does. */
export async function stop() {
  for (const child of started) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const ended = once(child, "exit", { signal: AbortSignal.timeout(STOP_LIMIT) });
    child.kill("SIGTERM");
    await ended;
  }
}

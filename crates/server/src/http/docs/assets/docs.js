// Renders /openapi.json and tries its operations out. No library, no markup from strings: all text goes
// into the page as text. The token lives in one input and in requests, nowhere else.
import { block, element, painted, prose } from "/docs/elements.js";
import { defaultOf, errors, essence, fieldsOf, headersOf, indented, installation, kindOf, load, operations, ordered, resolved, written } from "/docs/interface.js";

const PLACEHOLDER = "YOUR_TOKEN";
const SENDER_PLACEHOLDER = "YOUR_SENDER_ID";
// Looked up only when it is whole: a token that is still being typed is none.
const TOKEN = /^ogl_[0-9A-Za-z]{36}$/;

// `senders` holds the approved sender IDs of the token's account. `redraw` holds functions that draw again when the token, the
// sender ID or the choice of world changes.
const state = { token: "", world: "Sandbox", senders: [], redraw: [] };

// Requests.

function pathIn(world, path) {
  return world === "Sandbox" ? path.replace("/api/v2", "/api/sandbox/v2") : path;
}

function worldOf(operation) {
  return operation.path.startsWith("/api/v2") ? state.world : "Live";
}

function requestOf(operation, values) {
  const path = pathIn(worldOf(operation), operation.path);
  if (operation.requestBody) return { method: "POST", path, body: JSON.stringify(values) };
  const query = new URLSearchParams(values).toString();
  return { method: "GET", path: query ? `${path}?${query}` : path, body: null };
}

/** The curl that does the same. The shell sees every value between single quotes. */
function curlOf(request, token) {
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const lines = [
    `curl ${quoted(location.origin + request.path)}`,
    `-H ${quoted(`Authorization: Bearer ${token}`)}`,
  ];
  if (request.body) lines.push("-H 'Content-Type: application/json'", `-d ${quoted(request.body)}`);
  return lines.join(" \\\n  ");
}

function exampleRequest(operation) {
  const given = operation.requestBody?.content["application/json"].example;
  if (given) {
    const names = fieldsOf(operation).map((field) => field.name).filter((name) => name in given);
    const value = (name) => (name === "from" ? state.senders[0] ?? SENDER_PLACEHOLDER : given[name]);
    return requestOf(operation, Object.fromEntries(names.map((name) => [name, value(name)])));
  }
  const id = operation.responses["200"].content["application/json"].example.data.message_id;
  return requestOf(operation, fieldsOf(operation).length ? { message_id: id } : {});
}

/** A block of curl: the token is copied with it, but not shown. */
function curlOnce(title, request) {
  const shown = curlOf(request, state.token ? "…" : PLACEHOLDER);
  return block(title, shown, undefined, curlOf(request, state.token || PLACEHOLDER));
}

/** A block of curl that follows the choice of world. */
function curlBlock(title, request) {
  const holder = element("div");
  const draw = () => holder.replaceChildren(curlOnce(title, request()));
  state.redraw.push(draw);
  draw();
  return holder;
}

// Rendering.

function rules(schema) {
  const shape = essence(schema);
  const values = shape.enum ? ["One of ", ...shape.enum.flatMap((value, index) => [index ? ", " : "", element("code", {}, String(value))]), ". "] : [];
  const standard = defaultOf(shape) === undefined ? [] : ["Default ", element("code", {}, String(defaultOf(shape))), ". "];
  const most = shape.maximum === undefined ? [] : [`At most ${shape.maximum}. `];
  const all = [...values, ...standard, ...most];
  return all.length ? element("span", { class: "values" }, ...all) : null;
}

function fieldList(fields) {
  return element("dl", { class: "fields" }, ...fields.map((field) => element("div", {},
    element("dt", {},
      element("code", {}, field.name),
      element("span", { class: "kind" }, kindOf(field.schema)),
      field.required ? element("span", { class: "must" }, "required") : null),
    element("dd", {}, ...prose(field.about ?? ""), rules(field.schema)))));
}

/** The fields of an answer, those of objects within it under their path. */
function answerFields(schema, prefix = "") {
  const shape = essence(schema);
  return ordered(Object.keys(shape.properties ?? {}), shape).flatMap((name) => {
    const property = shape.properties[name];
    const inner = essence(property);
    const items = essence(inner.items);
    const about = property.description ?? inner.description ?? "";
    const row = { name: prefix + name, about, schema: property, required: false };
    if (inner.properties) return answerFields(property, `${prefix}${name}.`);
    return items.properties ? [row, ...answerFields(items, `${prefix}${name}[].`)] : [row];
  });
}

function failures(operation) {
  const rows = Object.entries(operation.responses)
    .filter(([status]) => status !== "200")
    .flatMap(([http, response]) => Object.values(response.content["application/json"].examples)
      .map((example) => resolved(example).value)
      .map((value) => ({ http, code: value.code, description: value.error.description, message: value.error.message })));
  return element("details", {},
    element("summary", {}, "Errors ", element("span", { class: "also" }, `${rows.length} messages`)),
    element("div", {}, errorList(rows)));
}

function errorList(rows) {
  return element("dl", { class: "fields" }, ...rows.map((row) => element("div", {},
    element("dt", {}, element("code", {}, row.code), element("span", { class: "kind" }, `HTTP ${row.http}`)),
    element("dd", {}, element("strong", {}, row.description), element("span", { class: "values" }, ...prose(row.message))))));
}

function card(operation) {
  const id = operation.operationId.replaceAll("_", "-");
  const success = operation.responses["200"].content["application/json"];
  const fields = fieldsOf(operation);
  const headers = headersOf(operation);
  const path = element("span");
  const also = element("p", { class: "also", hidden: operation.aliases.length === 0 });
  const draw = () => {
    const here = (one) => pathIn(worldOf(operation), one.path);
    path.textContent = here(operation);
    also.replaceChildren(...prose(`Also: ${operation.aliases.map((one) => `\`${one.method.toUpperCase()} ${here(one)}\``).join(", ")}`));
  };
  state.redraw.push(draw);
  draw();
  return element("section", { id, "aria-labelledby": `${id}-title` },
    element("h2", { id: `${id}-title` }, operation.summary),
    element("p", { class: "endpoint" }, element("span", { class: "method" }, operation.method.toUpperCase()), path),
    element("p", {}, ...prose(operation.description)),
    also,
    fields.length ? element("h3", {}, "Fields") : null,
    fields.length ? fieldList(fields) : null,
    headers.length ? element("h3", {}, "Headers") : null,
    headers.length ? fieldList(headers) : null,
    element("h3", {}, "Example"),
    curlBlock("Request", () => exampleRequest(operation)),
    block("Answer", written(success.example, success.schema), painted),
    element("details", {},
      element("summary", {}, "Fields of the answer"),
      element("div", {}, fieldList(answerFields(success.schema)))),
    failures(operation),
    trial(operation, fields, id));
}

function control(field, id) {
  const shape = essence(field.schema);
  const common = { id, name: field.name, "aria-required": field.required ? "true" : null };
  if (shape.enum) {
    const options = shape.enum.map((value) => element("option", { value }, value));
    return element("select", common, element("option", { value: "" }, defaultOf(shape) ? `default (${defaultOf(shape)})` : "not given"), ...options);
  }
  if (shape.type === "boolean") {
    return element("select", common, element("option", { value: "" }, "default (false)"), element("option", { value: "true" }, "true"));
  }
  if (field.name === "body") return element("textarea", common);
  if (field.name === "from") return element("input", { ...common, type: "text", autocomplete: "off", spellcheck: "false", list: "sender-ids-approved" });
  return element("input", { ...common, type: "text", autocomplete: "off", spellcheck: "false" });
}

/** A form that sends for real, to where the choice of world says. */
function trial(operation, fields, prefix) {
  const shown = fields.filter((field) => field.name !== "api_token" && field.name !== "dnd");
  const example = operation.requestBody?.content["application/json"].example ?? {};
  const controls = shown.map((field) => {
    const input = control(field, `${prefix}-${field.name}`);
    if (example[field.name] && field.name !== "from") input.value = example[field.name];
    return { field, input };
  });
  const sender = controls.find(({ field }) => field.name === "from")?.input;
  const answer = element("div", { class: "answer", "aria-live": "polite" });
  const submit = element("button", { type: "submit" });
  const warning = element("p", { class: "notice" }, operation.callbacks
    ? "Live: the message is really delivered, and charged to the wallet."
    : "Live: this reads your real account.");
  const values = () => Object.fromEntries(controls
    .filter(({ input }) => input.value !== "")
    .map(({ field, input }) => [field.name, input.value === "true" ? true : input.value]));
  const curl = element("div");
  /** Fills in a sender ID, unless the reader has chosen one. */
  const fill = () => {
    if (!sender || (sender.value !== "" && sender.value !== sender.dataset.filled)) return;
    sender.value = state.senders[0] ?? "";
    sender.dataset.filled = sender.value;
  };
  const draw = () => {
    const live = worldOf(operation) === "Live";
    submit.textContent = live ? "Send to live" : "Send to the sandbox";
    warning.hidden = !live;
    curl.replaceChildren(curlOnce("The same as curl", requestOf(operation, values())));
  };
  state.redraw.push(fill, draw);
  fill();
  draw();
  const form = element("form", {
    oninput: draw,
    onsubmit: async (event) => {
      event.preventDefault();
      submit.disabled = true;
      answer.replaceChildren(await tried(requestOf(operation, values())));
      submit.disabled = false;
    },
  },
  ...controls.map(({ field, input }) => element("div", { class: "field" },
    element("label", { for: input.id }, field.name, field.required ? element("span", { class: "hint" }, "required") : null),
    input)),
  warning, submit, curl, answer);
  return element("details", { class: "trial" }, element("summary", {}, "Try it"), element("div", {}, form));
}

/** What of an accepted send is not sent as it was given. */
function deviations(data) {
  const removed = data.removed_characters === 1 ? "1 character was removed" : `${data.removed_characters} characters were removed`;
  const changed = data.removed_characters ? `The text was changed: ${removed}.` : "The text was changed.";
  return [
    data.text_changed ? `${changed} Set unicode to true to send it as written.` : null,
    data.ignored_fields ? `These fields are not read: ${data.ignored_fields.join(", ")}.` : null,
  ].filter(Boolean);
}

/** Sends a request and shows its answer. The message_id of a send is put where its report is asked for. */
async function tried(request) {
  const headers = {};
  if (state.token) headers.Authorization = `Bearer ${state.token}`;
  if (request.body) headers["Content-Type"] = "application/json";
  try {
    const started = performance.now();
    const response = await fetch(request.path, { method: request.method, headers, body: request.body, credentials: "omit", cache: "no-store" });
    const text = await response.text();
    const report = document.getElementById("report-message_id");
    const data = request.body && response.ok ? JSON.parse(text).data : {};
    if (data.message_id) report.value = data.message_id;
    const took = Math.round(performance.now() - started);
    const lines = [...response.headers].map(([name, value]) => `${name}: ${value}`).join("\n");
    return element("div", {},
      element("p", {}, element("span", { class: `status ${response.ok ? "good" : "bad"}` }, `${response.status} ${response.statusText}`), ` in ${took} ms`),
      ...deviations(data).map((deviation) => element("p", { class: "notice" }, deviation)),
      block("Body", indented(text), painted),
      block("Headers", lines));
  } catch (fault) {
    return element("p", { class: "bad" }, `No answer: ${fault.message}`);
  }
}

function contents(list) {
  const link = (id, text) => element("li", {}, element("a", { href: `#${id}` }, text));
  document.getElementById("contents").append(
    ...list.map((one) => link(one.operationId.replaceAll("_", "-"), one.summary)),
    link("sandbox", "Sandbox numbers"), link("callbacks", "Callbacks"), link("pages", "Pages and prices"),
    link("limits", "Limits"), link("clients", "Generated clients"), link("errors", "Errors"));
}

function render() {
  const list = operations();
  const byId = Object.fromEntries(list.map((one) => [one.operationId, one]));
  for (const holder of document.querySelectorAll("[data-curl]")) {
    const operation = byId[holder.dataset.curl];
    const inSandbox = () => {
      const request = exampleRequest(operation);
      return { ...request, path: pathIn("Sandbox", operation.path) + (request.path.match(/\?.*/)?.[0] ?? "") };
    };
    holder.replaceChildren(curlBlock("Terminal", inSandbox));
  }
  document.getElementById("operations").replaceChildren(...list.map(card));
  const update = Object.values(byId.send.callbacks.delivery)[0].post.requestBody.content["application/json"];
  document.getElementById("callback-example").replaceChildren(block("Body of a callback", written(update.example, update.schema), painted));
  document.getElementById("price-table").replaceChildren(prices());
  document.getElementById("limit-rows").replaceChildren(...limits());
  document.getElementById("error-table").replaceChildren(errorList(errors()));
  contents(list);
}

/** Reads the sender IDs of a token. They are the same in the sandbox, whose reads are counted apart. */
async function sendersOf(token) {
  if (!TOKEN.test(token)) return { approved: [], about: token ? "A token begins with ogl_ and has 40 characters." : "" };
  try {
    const headers = { Authorization: `Bearer ${token}` };
    const response = await fetch("/api/sandbox/v2/sender-ids", { headers, credentials: "omit", cache: "no-store" });
    const answer = await response.json();
    if (!response.ok) return { approved: [], about: answer.error.message };
    // The examples use the first one: a name comes before a number, such as a short code.
    const isNumber = (senderId) => Number(/^\d+$/.test(senderId));
    const approved = answer.data.sender_ids.filter((one) => one.status === "approved").map((one) => one.sender_id)
      .sort((one, other) => isNumber(one) - isNumber(other));
    const about = approved.length ? `Approved sender IDs: ${approved.join(", ")}.` : "This account has no approved sender ID yet: ask your operator for one.";
    return { approved, about };
  } catch (fault) {
    return { approved: [], about: `The sender IDs could not be read (${fault.message}).` };
  }
}

function redraw() {
  state.redraw.forEach((draw) => draw());
}

/** Takes over the token that was entered. An answer for a token that has been replaced since is dropped. */
async function enterToken(token) {
  if (token === state.token) return;
  state.token = token;
  state.senders = [];
  redraw();
  const { approved, about } = await sendersOf(token);
  if (token !== state.token) return;
  state.senders = approved;
  document.getElementById("token-about").textContent = about;
  document.getElementById("sender-ids-approved").replaceChildren(...approved.map((value) => element("option", { value })));
  redraw();
}

/** A table of prices: a row for each gateway, and one for each network that has another price. */
function prices() {
  const { gateways } = installation();
  const amount = (text) => element("td", {}, `${text} NGN`);
  const row = ({ price, unicode_price }, ...about) => element("tr", {}, element("td", {}, ...about), amount(price), amount(unicode_price));
  const rows = gateways.flatMap((one) => {
    const notes = [
      one.live ? null : "Sandbox only.",
      one.refunded ? "Refunded where it is not delivered." : null,
      one.transactional ? "Takes one-time passwords." : null,
      one.quiet_hours ? `Held from ${one.quiet_hours.replace("-", " to ")} (Lagos).` : null,
    ];
    const about = element("span", { class: "hint" }, notes.filter(Boolean).join(" "));
    const networks = one.networks.map((other) => row(other, element("code", {}, one.gateway), ` to ${other.network}`));
    return [row(one, element("code", {}, one.gateway), about), ...networks];
  });
  const heads = ["Gateway", "Plain page", "Unicode page"].map((text) => element("th", { scope: "col" }, text));
  return element("table", {}, element("thead", {}, element("tr", {}, ...heads)), element("tbody", {}, ...rows));
}

function limits() {
  const own = installation().limits;
  const number = (value) => value.toLocaleString("en");
  const rows = [
    [own.sends_per_minute, "sends in any 60 seconds"],
    [own.reports_per_minute, "delivery reports in any 60 seconds"],
    [own.reads_per_minute, "other reads in any 60 seconds"],
    [own.unknown_tokens_per_minute, "unknown tokens in a minute from one address"],
    [own.max_recipients, "recipients in one request"],
    [own.idempotency_window_s, "seconds for which the answer of an `Idempotency-Key` is kept"],
    [own.max_body_bytes, "octets in the body of a request"],
  ];
  return rows.map(([value, about]) => element("tr", {}, element("td", {}, number(value)), element("td", {}, about)));
}

async function start() {
  const settings = document.getElementById("settings");
  settings.addEventListener("submit", (event) => event.preventDefault());
  settings.addEventListener("input", () => {
    enterToken(document.getElementById("api-token").value.trim());
    state.world = settings.elements.world.value;
    redraw();
  });
  try {
    await load();
    render();
    if (location.hash) document.querySelector(location.hash)?.scrollIntoView();
  } catch (fault) {
    document.getElementById("operations").replaceChildren(
      element("p", { class: "notice" }, `The interface could not be read (${fault.message}). It is at `, element("a", { href: "/openapi.json" }, "openapi.json"), "."));
  }
}

start();

// Reads /openapi.json: which operations there are, with which fields, and how their examples are written.

const METHODS = ["post", "get"];
const INDENT = "  ";

let whole = null;

export async function load() {
  const response = await fetch("/openapi.json", { credentials: "omit" });
  whole = await response.json();
}

export function resolved(schema) {
  if (!schema?.$ref) return schema ?? {};
  return schema.$ref.slice(2).split("/").reduce((at, key) => at[key], whole);
}

/** The schema that says the most: the reference of a nullable one, for instance. */
export function essence(schema) {
  const shape = resolved(schema);
  const choice = (shape.oneOf ?? shape.anyOf ?? []).find((one) => one.$ref);
  return choice ? { ...resolved(choice), ...(shape.description ? { description: shape.description } : {}) } : shape;
}

/** Names in the order in which they were declared, as far as the document still tells. */
export function ordered(names, schema) {
  const order = schema.required ?? [];
  const rank = (name) => (order.includes(name) ? order.indexOf(name) : order.length);
  return [...names].sort((a, b) => rank(a) - rank(b));
}

function isMoney(schema) {
  return resolved(schema).format === "double";
}

/** An example as JSON text, in the declared order and with amounts as they are written. */
export function written(value, schema, depth = 0) {
  const shape = essence(schema);
  const line = "\n" + INDENT.repeat(depth + 1);
  const close = "\n" + INDENT.repeat(depth);
  if (Array.isArray(value)) {
    const items = value.map((item) => line + written(item, shape.items, depth + 1));
    return items.length ? `[${items.join(",")}${close}]` : "[]";
  }
  if (value && typeof value === "object") {
    const names = ordered(Object.keys(value), shape);
    const rows = names.map((name) => `${line}${JSON.stringify(name)}: ${written(value[name], shape.properties?.[name], depth + 1)}`);
    return rows.length ? `{${rows.join(",")}${close}}` : "{}";
  }
  return typeof value === "number" && isMoney(schema) ? value.toFixed(2) : JSON.stringify(value);
}

export function kindOf(schema) {
  const shape = essence(schema);
  if (shape.oneOf?.some((one) => one.type === "array")) return "string or array of strings";
  const type = [shape.type].flat().filter(Boolean);
  const orNull = resolved(schema).oneOf?.some((one) => one.type === "null") && !type.includes("null") ? " or null" : "";
  return type.join(" or ") + orNull;
}

/** What an absent field is taken as. */
export function defaultOf(schema) {
  return schema.default ?? schema["x-default"];
}

/** Limits and gateways of this installation. */
export function installation() {
  return whole["x-installation"];
}

/** The main operations of the interface and the legacy one, each with its aliases. */
export function operations() {
  const all = Object.entries(whole.paths).flatMap(([path, item]) =>
    METHODS.filter((method) => item[method]).map((method) => ({ path, method, ...item[method] })));
  const live = all.filter((one) => !one.tags.includes("Sandbox"));
  const order = ["send", "quote", "report", "balance", "sender_ids", "request_sender_id", "account", "legacy_send"];
  return order.map((id) => {
    const main = live.find((one) => one.operationId === id);
    const aliases = live.filter((one) =>
      one["x-alias-of"] === main.path || (one.path === main.path && one.summary === main.summary && one !== main));
    return { ...main, aliases };
  });
}

function listed(parameters) {
  return parameters.map((one) => ({ name: one.name, required: one.required, about: one.description, schema: one.schema }));
}

/** The headers that an operation reads beside the token. */
export function headersOf(operation) {
  return listed((operation.parameters ?? []).filter((one) => one.in === "header"));
}

/** The fields of an operation as one list, whether they go into the body, the path or the query string. */
export function fieldsOf(operation) {
  const shape = resolved(operation.requestBody?.content["application/json"].schema);
  const declared = operation.requestBody ? whole.paths["/api/v2/sms"].get.parameters : operation.parameters ?? [];
  const parameters = listed(declared.filter((one) => one.in !== "header"));
  if (!operation.requestBody) return parameters;
  const order = parameters.map((one) => one.name);
  const names = Object.keys(shape.properties).sort((a, b) => (order.indexOf(a) + 99) % 99 - (order.indexOf(b) + 99) % 99);
  return names.map((name) => ({
    name,
    required: shape.required.includes(name),
    about: shape.properties[name].description,
    schema: shape.properties[name],
  }));
}

/** Every code once. */
export function errors() {
  return whole["x-errors"];
}

/** Indents JSON text as it is, so that 6.00 stays 6.00, which parsing would lose. */
export function indented(text) {
  let depth = 0;
  const line = (change) => "\n" + INDENT.repeat(depth += change);
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s{}[\],:"]+/g) ?? [];
  return tokens.map((token, index) => {
    const empty = /[}\]]/.test(tokens[index + 1] ?? "");
    if (token === "{" || token === "[") return empty ? (depth += 1, token) : token + line(1);
    if (token === "}" || token === "]") return /[{[]/.test(tokens[index - 1] ?? "") ? (depth -= 1, token) : line(-1) + token;
    if (token === ",") return token + line(0);
    return token === ":" ? ": " : token;
  }).join("");
}

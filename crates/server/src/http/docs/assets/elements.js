// The elements of the page. All text goes into it as text.

export function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value === true) made.setAttribute(key, "");
    else if (value !== false && value != null) made.setAttribute(key, value);
  }
  made.append(...children.filter((child) => child != null));
  return made;
}

/** Text in which `code` stands between backticks. */
export function prose(text) {
  return text.split("`").map((part, index) => (index % 2 ? element("code", {}, part) : part));
}

export function block(title, text, paint = (source) => [source], toCopy = text) {
  const pre = element("pre", { tabindex: "0" }, ...paint(text));
  const copy = element("button", { class: "quiet", type: "button", onclick: () => copied(copy, toCopy) }, "Copy");
  return element("div", { class: "block" }, element("header", {}, element("span", {}, title), copy), pre);
}

async function copied(button, text) {
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Select and copy";
  }
  setTimeout(() => { button.textContent = "Copy"; }, 2000);
}

/** JSON text with its strings, numbers and words coloured. */
export function painted(text) {
  const parts = [];
  let end = 0;
  for (const match of text.matchAll(/"(?:[^"\\]|\\.)*"(\s*:)?|-?\d[\d.eE+-]*|\b(?:true|false|null)\b/g)) {
    parts.push(text.slice(end, match.index));
    const first = match[0][0];
    const kind = match[1] ? "" : first === '"' ? "s" : /[tfn]/.test(first) ? "w" : "n";
    parts.push(kind ? element("span", { class: kind }, match[0]) : match[0]);
    end = match.index + match[0].length;
  }
  parts.push(text.slice(end));
  return parts;
}

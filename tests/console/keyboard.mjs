// A person who works with the keyboard alone: Tab, Enter, Space, arrows and letters.
import assert from "node:assert/strict";
import { until } from "./kit.mjs";

// More elements than a page has between its begin and its end.
const MAX_TABS = 160;

/** Returns the keyboard of a page. Nothing of it clicks, fills in or sets a focus. */
export function keyboard(page) {
  const press = (key) => page.keyboard.press(key);
  const named = (role, name, within = page) => within.getByRole(role, { name, exact: typeof name === "string" });
  const labelled = (label) => page.getByLabel(label, { exact: typeof label === "string" });

  /** Presses Tab until one of the wanted elements has the focus. */
  const reach = async (wanted, what) => {
    await wanted.first().waitFor();
    const passed = [];
    for (let tabs = 0; tabs <= MAX_TABS; tabs += 1) {
      if (await wanted.evaluateAll((all) => all.includes(document.activeElement))) return;
      await press("Tab");
      passed.push(await page.evaluate(() => {
        const one = document.activeElement;
        return one === document.body ? "(the page)" : one.getAttribute("aria-label") || one.textContent.trim() || one.name || one.tagName;
      }));
    }
    const way = passed.map((one) => one.replace(/\s+/g, " ").slice(0, 24)).join(", ");
    assert.fail(`${new URL(page.url()).pathname}: ${MAX_TABS} Tabs do not reach ${what}. They passed: ${way}`);
  };

  /** Skips the navigation by the first link of a page, unless the focus is in the page already. */
  const skip = async () => {
    if (!(await page.evaluate(() => document.activeElement === document.body))) return;
    await press("Tab");
    if (await page.evaluate(() => document.activeElement.className === "skip")) await press("Enter");
  };

  /** Does something that leads to another page, and waits for the page. */
  const leading = async (what, does) => {
    await page.evaluate(() => { globalThis.isLeft = false; });
    await does();
    const isThere = () => page.evaluate(() => globalThis.isLeft === undefined && document.readyState === "complete");
    // While the page is replaced, it answers nothing.
    await until(`${what} leads to another page`, () => isThere().catch(() => false));
  };

  const keys = {
    press,
    /** Moves the focus to a button, a link or another element of the content. */
    async focus(role, name, within) {
      await skip();
      await reach(named(role, name, within), `the ${role} ${name}`);
    },
    /** Activates a button or a link of the content. */
    async enter(role, name, within) {
      await keys.focus(role, name, within);
      await press("Enter");
    },
    /** Activates a control that leads to another page. */
    follow: (role, name, within) => leading(`the ${role} ${name}`, () => keys.enter(role, name, within)),
    /** Types a text into a field, in place of what it has. */
    async type(label, text) {
      await skip();
      await reach(labelled(label), `the field ${label}`);
      await press("Control+a");
      await page.keyboard.type(text);
    },
    /** Types the parts of a time, as the browser shows them. */
    async typeTime(label, digits) {
      await skip();
      await reach(labelled(label), `the field ${label}`);
      await page.keyboard.type(digits);
    },
    /** Chooses an option of a list by typing its begin. */
    async choose(label, text) {
      await skip();
      await reach(labelled(label), `the list ${label}`);
      await page.keyboard.type(text);
      const chosen = await page.evaluate(() => document.activeElement.selectedOptions?.[0].textContent ?? "");
      assert.ok(chosen.startsWith(text), `${label}: the letters ${text} choose ${chosen}`);
    },
    /** Chooses an option of a list that leads to another page. */
    chooseAndFollow: (label, text) => leading(`the list ${label}`, async () => {
      await skip();
      await reach(labelled(label), `the list ${label}`);
      await page.keyboard.type(text);
    }),
    /** Chooses a file. The button of the field opens the dialog of the browser. */
    async attach(label, file) {
      await skip();
      await reach(labelled(label), `the field ${label}`);
      const chooser = page.waitForEvent("filechooser");
      // The browser answers once it knows that somebody waits for its dialog.
      await page.evaluate(() => 0);
      await press("Space");
      await (await chooser).setFiles(file);
    },
    /** Goes to a section by the navigation. */
    go: (section) => leading(`the section ${section}`, async () => {
      await reach(named("link", section, page.getByRole("navigation", { name: "Sections" })), `the section ${section}`);
      await press("Enter");
    }),
    /** Switches between live and sandbox, above the navigation. */
    switchTo: (environment) => leading(`the switch to ${environment}`, async () => {
      await reach(named("button", environment), `the button ${environment}`);
      await press("Enter");
    }),
    /** Presses a button that asks once more, and the button of its dialog. */
    async confirm(action, within) {
      await keys.enter("button", action, within);
      const dialog = page.getByRole("dialog");
      await dialog.waitFor({ state: "visible" });
      await leading(`the dialog of ${action}`, async () => {
        await reach(named("button", action, dialog), `the button ${action} of the dialog`);
        await press("Enter");
      });
    },
    /** Waits until the page shows a text. */
    shows: (text) => page.getByText(text).first().waitFor(),
  };
  return keys;
}

// The script of the console. Every screen works without it; it adds live updates, copies and shortcuts.
"use strict";

(() => {
  const root = document.documentElement;
  root.classList.add("scripted");

  const closest = (event, selector) => (event.target instanceof Element ? event.target.closest(selector) : null);

  // A live part is not replaced while nobody looks at it, or while the reader works in it.
  const isBusy = (part) =>
    document.hidden || part.contains(document.activeElement) || part.querySelector("details[open], .hit:hover, :popover-open") !== null;

  document.addEventListener("htmx:beforeRequest", (event) => {
    const part = closest(event, "[data-live]");
    if (part && event.detail.elt === part && isBusy(part)) event.preventDefault();
  });

  // An answer for a person who is signed out leads to the sign-in, and other failures are shown.
  document.addEventListener("htmx:responseError", (event) => {
    if (event.detail.xhr.status === 401) location.reload();
    else root.classList.add("stale");
  });
  document.addEventListener("htmx:sendError", () => root.classList.add("stale"));
  document.addEventListener("htmx:afterOnLoad", () => root.classList.remove("stale"));

  document.addEventListener("click", async (event) => {
    const button = closest(event, "[data-copy]");
    if (!button) return;
    const source = document.getElementById(button.dataset.copy);
    await navigator.clipboard.writeText(source.value ?? source.textContent);
    const name = button.textContent;
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = name; }, 2000);
  });

  document.addEventListener("click", (event) => {
    if (closest(event, "[data-print]")) print();
  });

  // A filter applies as soon as it changes. Without script its form has a button.
  document.addEventListener("change", (event) => {
    const form = closest(event, "form[data-submit]");
    if (form) form.requestSubmit();
  });

  // A form is sent once: a second click while the answer is under way sends nothing.
  document.addEventListener("submit", (event) => {
    const form = event.target;
    if (form.method !== "post") return;
    if (form.dataset.sent) event.preventDefault();
    form.dataset.sent = "yes";
  });
  addEventListener("pageshow", () => {
    for (const form of document.querySelectorAll("form[data-sent]")) delete form.dataset.sent;
  });
})();

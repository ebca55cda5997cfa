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

  // A file is sent with a progress bar, and can be cancelled. Without script the browser sends the form.
  const upload = (form) => {
    const part = (name) => form.querySelector(`[data-${name}]`);
    const [progress, state, cancel] = ["progress", "state", "cancel"].map(part);
    const bar = progress.querySelector("progress");
    const button = form.querySelector("[type=submit]");
    const request = new XMLHttpRequest();
    const runs = (is) => { progress.hidden = cancel.hidden = !is; button.disabled = is; };
    const ended = (text) => { runs(false); progress.hidden = false; bar.hidden = true; state.textContent = text; delete form.dataset.sent; };
    request.upload.addEventListener("progress", (event) => {
      bar.max = event.total; bar.value = event.loaded;
      state.textContent = `${Math.floor((100 * event.loaded) / event.total)} % sent`;
    });
    request.upload.addEventListener("load", () => { bar.removeAttribute("value"); state.textContent = "The rows are read."; });
    request.addEventListener("load", () => {
      history.replaceState(null, "", request.responseURL.split("?csrf_token")[0]);
      const page = new DOMParser().parseFromString(request.responseText, "text/html");
      document.title = page.title;
      document.body.replaceWith(page.body);
      htmx.process(document.body);
    });
    request.addEventListener("error", () => ended("The connection was lost. Upload the file again."));
    request.addEventListener("abort", () => ended("The upload was cancelled. Nothing was kept."));
    const [file] = form.elements.file.files;
    if (file && file.size > Number(form.dataset.max)) return ended("The file is too large. Split it.");
    cancel.onclick = () => request.abort();
    bar.hidden = false; state.textContent = "0 % sent"; runs(true);
    request.open("POST", form.action);
    request.send(new FormData(form));
  };
  document.addEventListener("submit", (event) => {
    if (!event.target.matches("[data-upload]")) return;
    event.preventDefault();
    if (!event.target.dataset.sent) upload(event.target);
  });

  // A send of several messages goes on by itself.
  const next = document.querySelector("form[data-continue]");
  if (next) setTimeout(() => next.requestSubmit(), 500);

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

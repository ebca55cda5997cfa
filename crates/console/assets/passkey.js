// Passkeys: the browser asks an authenticator, and a form carries the answer. Without script the password works.
"use strict";

(() => {
  const form = document.querySelector("form[data-passkey]");
  if (!form || !globalThis.PublicKeyCredential) return;
  document.documentElement.classList.add("scripted");
  const state = form.querySelector("[data-state]");

  const bytes = (text) => Uint8Array.from(atob(text.replace(/-/g, "+").replace(/_/g, "/")), (sign) => sign.charCodeAt(0));
  const base64 = (buffer) =>
    btoa(String.fromCharCode(...new Uint8Array(buffer))).replace(/\+/g, "-").replace(/\//g, "_").replace(/=+$/, "");
  const list = (all) => (all ?? []).map((one) => ({ ...one, id: bytes(one.id) }));

  // The options of a new passkey are in the page. The page asks for the ones of a sign-in.
  const options = async () => {
    if (form.dataset.options) return JSON.parse(form.dataset.options);
    const answer = await fetch(form.dataset.begin, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!answer.ok) throw new DOMException("", answer.status === 422 ? "QuotaExceededError" : "NetworkError");
    return answer.json();
  };

  const create = async (given) => {
    const user = { ...given.user, id: bytes(given.user.id) };
    const publicKey = { ...given, user, challenge: bytes(given.challenge), excludeCredentials: list(given.excludeCredentials) };
    const made = await navigator.credentials.create({ publicKey });
    return [made, {
      attestationObject: base64(made.response.attestationObject),
      transports: made.response.getTransports?.() ?? [],
    }];
  };
  const get = async (given) => {
    const publicKey = { ...given, challenge: bytes(given.challenge), allowCredentials: list(given.allowCredentials) };
    const used = await navigator.credentials.get({ publicKey });
    return [used, {
      authenticatorData: base64(used.response.authenticatorData),
      signature: base64(used.response.signature),
      userHandle: base64(used.response.userHandle ?? new ArrayBuffer(0)),
    }];
  };

  const WORDS = {
    NotAllowedError: "It was cancelled, or took too long. Try again.",
    InvalidStateError: "This device has a passkey of yours already.",
    QuotaExceededError: "Too many people use passkeys at this moment. Use your password.",
    NetworkError: "The server did not answer as expected. Load the page again.",
  };
  form.addEventListener("submit", async (event) => {
    event.preventDefault();
    state.textContent = "";
    try {
      const [one, response] = await (form.dataset.passkey === "create" ? create : get)(await options());
      response.clientDataJSON = base64(one.response.clientDataJSON);
      const answer = { id: one.id, rawId: base64(one.rawId), type: one.type, response, clientExtensionResults: {} };
      if (one.authenticatorAttachment) answer.authenticatorAttachment = one.authenticatorAttachment;
      form.elements.answer.value = JSON.stringify(answer);
      // This sends the form without another event.
      form.submit();
    } catch (error) {
      state.textContent = WORDS[error.name] ?? "Passkeys do not work in this browser. Use your password.";
    }
  });
})();

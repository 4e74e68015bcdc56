// @ts-check
// Copies the secret from the link's fragment into the form, and submits it.

const form = document.querySelector('form#claim');
const link = document.getElementById('link');
if (form instanceof HTMLFormElement && link instanceof HTMLInputElement && location.hash.length > 1) {
  link.value = location.hash.slice(1);
  // The secret works once, but it must not stay in the address bar or the history.
  history.replaceState(null, '', location.pathname + location.search);
  form.requestSubmit();
}

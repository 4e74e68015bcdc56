// The page of an ATM: directions for the device, and the buttons that share its link and save it in this browser. Each button
// is shown if the browser supports it.
const message = document.getElementById('copied');
const show = (text) => {
  message.textContent = text;
  message.classList.remove('vh');
};

const platform = navigator.userAgent;
const directions = document.getElementById('directions');
if (/Mac|iPhone|iPad|iPod/.test(platform)) directions.href = directions.dataset.apple;
if (/Android/.test(platform)) document.getElementById('other-app').hidden = false;

const share = document.getElementById('share');
const address = `${location.origin}${location.pathname}`;
if (navigator.share || navigator.clipboard) {
  share.hidden = false;
  share.addEventListener('click', async () => {
    try {
      if (navigator.share) return await navigator.share({ title: document.title, url: address });
      await navigator.clipboard.writeText(address);
      show(share.dataset.copied);
    } catch {
      // The user closed the dialog, or the browser refused: the address bar has the link.
    }
  });
}

/** Name of the list in the storage of the browser; saved.js shows the list. */
const LIST = 'signpost-atms';
const MAX_SAVED = 50;
const save = document.getElementById('save');
const { atm, title, saved, unsaved } = save.dataset;

/** Returns the saved ATMs. */
function read() {
  try {
    const list = JSON.parse(localStorage.getItem(LIST) ?? '[]');
    return Array.isArray(list) ? list : [];
  } catch {
    return [];
  }
}

const isSaved = () => read().some((one) => one?.id === atm);

function toggle() {
  const isNew = !isSaved();
  const others = read().filter((one) => one?.id !== atm);
  const list = isNew ? [{ id: atm, title, address: save.dataset.address }, ...others] : others;
  try {
    localStorage.setItem(LIST, JSON.stringify(list.slice(0, MAX_SAVED)));
  } catch {
    return;
  }
  save.setAttribute('aria-pressed', isNew);
  show(isNew ? saved : unsaved);
}

save.setAttribute('aria-pressed', isSaved());
save.hidden = false;
save.addEventListener('click', toggle);

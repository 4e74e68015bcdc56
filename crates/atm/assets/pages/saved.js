// The list of the ATMs that the user saved in this browser, on the first page.
const LIST = 'signpost-atms';
const section = document.getElementById('saved');
const rows = section.querySelector('ul');

/** Returns the saved ATMs. Another program at this origin could have stored anything. */
function read() {
  try {
    const list = JSON.parse(localStorage.getItem(LIST) ?? '[]');
    return (Array.isArray(list) ? list : []).filter((one) => /^\d{1,16}$/.test(one?.id));
  } catch {
    return [];
  }
}

function row({ id, title, address }) {
  const item = document.createElement('li');
  const link = document.createElement('a');
  link.href = `${section.dataset.link}${id}${section.dataset.query}`;
  link.textContent = title;
  const place = document.createElement('span');
  place.className = 'sm soft';
  place.textContent = address;
  const remove = document.createElement('button');
  remove.className = 'btn small';
  remove.textContent = section.dataset.remove;
  remove.setAttribute('aria-label', `${section.dataset.remove}: ${title}`);
  remove.addEventListener('click', () => {
    localStorage.setItem(LIST, JSON.stringify(read().filter((one) => one.id !== id)));
    draw();
    section.querySelector('h2').focus();
  });
  item.append(link, place, remove);
  return item;
}

function draw() {
  const list = read();
  section.hidden = list.length === 0;
  rows.replaceChildren(...list.map(row));
}
draw();

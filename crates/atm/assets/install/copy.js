// The button that copies an address: of the server, or of a machine. Where a browser lets no page copy, it stays hidden: the address is selected at a click.
const button = document.getElementById('copy');
const address = document.getElementById('address');
const said = document.getElementById('copied');
if (button && navigator.clipboard) {
  button.hidden = false;
  button.addEventListener('click', async () => {
    try {
      await navigator.clipboard.writeText(address.textContent);
      said.textContent = button.dataset.copied;
      said.classList.remove('vh');
    } catch {
      getSelection().selectAllChildren(address);
    }
  });
}

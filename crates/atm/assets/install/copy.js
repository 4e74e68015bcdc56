// The button that copies an address of the server or of an ATM. It stays hidden if the browser does not allow copying; a
// click then selects the address.
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

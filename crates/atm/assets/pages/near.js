// The button "Near me": asks the browser for the location when pressed, and searches around it. The coordinates are rounded
// to three decimals (about 100 m) before they are sent. Without this script the button opens a page that asks for a place.
const button = document.getElementById('near-me');
const message = document.getElementById('near-says');

const show = (name) => {
  message.textContent = message.dataset[name];
};

function search({ coords }) {
  const address = new URL(button.form.action);
  const place = { lat: coords.latitude.toFixed(3), lon: coords.longitude.toFixed(3), here: 1, lang: button.form.elements.lang?.value };
  for (const [name, value] of Object.entries(place)) if (value !== undefined) address.searchParams.set(name, value);
  location.assign(address);
}

button?.addEventListener('click', (event) => {
  event.preventDefault();
  // Browsers offer the location to https pages only; the error of others does not name this reason.
  if (!isSecureContext) return show('insecure');
  if (!navigator.geolocation) return show('failed');
  show('asking');
  const refused = (error) => show(error.code === error.PERMISSION_DENIED ? 'denied' : 'failed');
  navigator.geolocation.getCurrentPosition(search, refused, { timeout: 20_000, maximumAge: 60_000 });
});

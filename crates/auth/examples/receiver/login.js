// Waits until a wallet has answered the code on this page, and replaces it when it expires.
const code = document.getElementById("code");
const state = document.getElementById("state");
const sid = encodeURIComponent(code.dataset.sid);
const poll = 1000;
let refreshesLeft = 10; // An abandoned page stops after these.
let expiresAt = Date.now() + 1000 * Number(code.dataset.expiresIn);

async function refresh() {
  const reply = refreshesLeft-- > 0 && (await fetch(`/refresh?sid=${sid}`, { method: "POST" }));
  if (!reply || !reply.ok) {
    return false;
  }
  const { svg, qr_data, expires_in } = await reply.json();
  code.innerHTML = svg;
  document.getElementById("link").href = qr_data;
  document.getElementById("text").textContent = qr_data;
  expiresAt = Date.now() + 1000 * expires_in;
  return true;
}

function stop() {
  code.classList.add("spent");
  state.textContent = "This code is no longer valid. ";
  const again = document.createElement("a");
  again.href = location.href;
  again.textContent = "Show a new one";
  state.append(again);
}

async function ask() {
  const reply = await fetch(`/poll?sid=${sid}`);
  const { status, redirect } = await reply.json();
  if (status === "authenticated") {
    state.textContent = "Signed. One moment.";
    location.replace(redirect);
    return false;
  }
  if (status === "not_found" || (Date.now() >= expiresAt && !(await refresh()))) {
    stop();
    return false;
  }
  return true;
}

async function wait() {
  let goOn = true;
  try {
    goOn = await ask();
  } catch {
    // The network is away for a moment; the next question may get through.
  }
  if (goOn) {
    setTimeout(wait, poll);
  }
}

wait();

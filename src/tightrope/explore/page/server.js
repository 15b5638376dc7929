// Questions to the server this page came from: one at a time for each spot of the page, the newest wins.

const token = new URLSearchParams(location.search).get("token") ?? "";
const client = crypto.randomUUID();
const ALIVE_EVERY = 3000; // milliseconds, while the page is looked at
const BACK_EVERY = 1000; // while the server is gone
const BUSY_WAIT = 700;

const listeners = new Set();
let alive = true;

/** Tells whenever the server goes or comes back. */
export function onAlive(listener) {
  listeners.add(listener);
}

function tell(now) {
  if (now === alive) return;
  alive = now;
  for (const each of listeners) each(alive);
}

export const isAlive = () => alive;

/** The command that starts the explorer again at this address; ledger: the one that it shows, or null. */
export function restart(ledger) {
  const shown = ledger === null ? "" : ` --ledger '${ledger.replaceAll("'", "'\\''")}'`;
  return `tightrope explore --port ${location.port} --token ${token}${shown} --no-browser`;
}

/** The answer to a question; null where a newer one took its place, or the server is gone. */
export async function ask(spot, question, signal) {
  for (;;) {
    let reply;
    try {
      reply = await fetch("/api/ask", {
        method: "POST",
        headers: {"content-type": "application/json", "x-tightrope-token": token},
        body: JSON.stringify({client, spot, question}),
        signal,
      });
    } catch (error) {
      if (error.name !== "AbortError") tell(false);
      return null;
    }
    tell(reply.status !== 403); // another explorer, with another token, is not the one this page belongs to
    if (reply.status === 403) return null;
    if (reply.status === 503) {
      await new Promise((resolve) => setTimeout(resolve, BUSY_WAIT));
      if (signal?.aborted) return null;
      continue;
    }
    if (!reply.ok) return {error: (await reply.text()).trim(), column: null};
    try {
      const answer = await reply.json();
      return answer.superseded ? null : answer;
    } catch (error) {
      if (error.name !== "AbortError") tell(false); // it ended in the middle of an answer
      return null;
    }
  }
}

/** Looks from time to time whether the server is still there. */
export async function watch() {
  for (;;) {
    await new Promise((resolve) => setTimeout(resolve, alive ? ALIVE_EVERY : BACK_EVERY));
    if (document.hidden && alive) continue;
    try {
      const reply = await fetch("/api/alive", {headers: {"x-tightrope-token": token}});
      tell(reply.ok);
    } catch {
      tell(false);
    }
  }
}

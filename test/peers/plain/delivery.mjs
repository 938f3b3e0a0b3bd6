import { setTimeout as sleep } from 'node:timers/promises';

const PAUSES_MS = [100, 200, 400, 800, 1600];

/** Tries again after a 5xx or a broken connection; any other answer is final. `post` gives the status. */
export async function deliver(journal, url, message, post = postByFetch) {
  const attempt = () => isSettled(journal, { url, raw: JSON.stringify(message) }, post);
  for (const pause of PAUSES_MS) {
    if (await attempt()) return;
    await sleep(pause);
  }
  await attempt();
}

async function isSettled(journal, { url, raw }, post) {
  const headers = { 'content-type': 'application/json' };
  const entry = journal.add('delivery', { url, headers, raw });
  try {
    entry.status = await post(url, headers, raw);
    return entry.status < 500;
  } catch (error) {
    entry.error = String(error.cause ?? error);
    return false;
  }
}

async function postByFetch(url, headers, body) {
  const response = await fetch(url, { method: 'POST', headers, body, redirect: 'manual' });
  await response.arrayBuffer();
  return response.status;
}

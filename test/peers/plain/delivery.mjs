import { setTimeout as sleep } from 'node:timers/promises';

const PAUSES_MS = [100, 200, 400, 800, 1600];

/** Tries again after a 5xx or a broken connection; any other answer is final. */
export async function deliver(journal, url, message) {
  for (const pause of PAUSES_MS) {
    if (await isSettled(journal, url, message)) return;
    await sleep(pause);
  }
  await isSettled(journal, url, message);
}

async function isSettled(journal, url, message) {
  const headers = { 'content-type': 'application/json' };
  const raw = JSON.stringify(message);
  const entry = journal.add('delivery', { url, headers, raw });
  try {
    const response = await fetch(url, { method: 'POST', headers, body: raw, redirect: 'manual' });
    await response.arrayBuffer();
    entry.status = response.status;
    return response.status < 500;
  } catch (error) {
    entry.error = String(error.cause ?? error);
    return false;
  }
}

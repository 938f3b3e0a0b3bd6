import { setTimeout as sleep } from 'node:timers/promises';
import { parsed } from '../kit/json.mjs';

const TRIES = 5;
const PAUSE_MS = 50;
const MOST_PAUSE_MS = 2000;

/** The API behind one key. Everything that is sent and answered is kept in `journal`, without the key. */
export class Wire {
  journal = [];
  #base;
  #key;

  constructor(base, key) {
    this.#base = `${base}/api/v2`;
    this.#key = key;
  }

  /** A GET is sent again after a 5xx, or when the connection broke. */
  async get(path) {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send('GET', path).catch(error => ({ status: null, error }));
      const isWorthAnother = answer.status === null || answer.status >= 500;
      if (isWorthAnother && attempt < TRIES) await sleep(PAUSE_MS);
      else if (answer.error) throw answer.error;
      else return answer;
    }
  }

  /** A POST is sent again only after a 429, when it says so. */
  async post(path, body, headers = {}) {
    for (let attempt = 1; ; attempt++) {
      const answer = await this.#send('POST', path, body, headers);
      if (answer.status !== 429 || attempt === TRIES) return answer;
      await sleep(Math.min(MOST_PAUSE_MS, 1000 * Number(answer.headers['retry-after'] ?? 0)));
    }
  }

  async #send(method, path, body, headers) {
    const entry = { method, path, body: body ?? null, status: null, answer: null };
    this.journal.push(entry);
    const response = await fetch(this.#base + path, {
      method,
      headers: {
        authorization: `Bearer ${this.#key}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
    const raw = await response.text();
    Object.assign(entry, { status: response.status, answer: raw === '' ? null : (parsed(raw) ?? raw) });
    return { status: response.status, headers: Object.fromEntries(response.headers), body: parsed(raw), raw };
  }
}

/** @throws Error that names the status, unless it is one of 2xx or one of `others`. */
export function accepted(answer, what, others = []) {
  const isFine = (answer.status >= 200 && answer.status < 300) || others.includes(answer.status);
  if (!isFine) throw new Error(`${what}: ${answer.status} ${answer.raw}`);
  return answer;
}

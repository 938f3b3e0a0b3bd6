import { readBody } from './http.mjs';
import { parsed } from './json.mjs';

/** Everything a tool received and delivered, in order. `GET /__log` shows it. */
export class Journal {
  entries = [];

  /** Returns the entry, so that a delivery can be given its status once it is answered. */
  add(what, { url, headers, raw }) {
    const entry = { what, url, headers, body: parsed(raw), raw, status: null, error: null, at: Date.now() };
    this.entries.push(entry);
    return entry;
  }

  /** Takes a request with its body; one that breaks off is kept too, with the error. */
  async receive(what, request) {
    const { url, headers } = request;
    try {
      return this.add(what, { url, headers, raw: (await readBody(request)).toString() });
    } catch (error) {
      return Object.assign(this.add(what, { url, headers, raw: '' }), { error: error.message });
    }
  }
}

import { isUtf8 } from 'node:buffer';
import type { Content } from '../../exchange/content.js';
import type { Event } from '../../exchange/events.js';
import { checkedLine } from './journal-format.js';

/** Turns events into the lines of a journal: a body once, and from then on only its digest. */
export class JournalWriter {
  readonly #written = new WeakSet<Content>();

  /** With a line feed after each line. */
  event(event: Event): string {
    if (!('body' in event) || event.body === undefined) return checkedLine(event);
    const { body } = event;
    const { sha256, size } = body;
    return this.#bodyOnce(body) + checkedLine({ ...event, body: { sha256, size } });
  }

  #bodyOnce(body: Content): string {
    if (this.#written.has(body)) return '';
    this.#written.add(body);
    const encoding = isUtf8(body.bytes) ? 'utf8' : 'base64';
    const { buffer, byteOffset, length } = body.bytes;
    const data = Buffer.from(buffer, byteOffset, length).toString(encoding);
    return checkedLine({ kind: 'body', sha256: body.sha256, encoding, data });
  }
}

import type { Theme } from '../../../dress/theme.js';
import type { SessionCall } from '../../../exchange/session/session.js';
import { callBodies, callHead } from '../../../story/session/call-details.js';
import type { KnownCall } from '../../../story/session/known.js';
import { wrapLines } from '../../scrolled-rows.js';

/** Lays out the details of calls; the bodies of the last one stay laid out, since most frames show the same. */
export class CallDetails {
  #call: SessionCall | undefined;
  #width = 0;
  #bodies: readonly string[] = [];

  constructor(private readonly theme: Theme) {}

  /** @param now ms since the start */
  rowsOf(known: KnownCall, now: number, width: number): readonly string[] {
    return [...wrapLines(callHead(known, now), width, this.theme), ...this.#bodiesOf(known, width)];
  }

  #bodiesOf(known: KnownCall, width: number): readonly string[] {
    if (known.call === this.#call && width === this.#width) return this.#bodies;
    this.#call = known.call;
    this.#width = width;
    this.#bodies = wrapLines(callBodies(known), width, this.theme);
    return this.#bodies;
  }
}

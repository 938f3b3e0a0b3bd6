import type { Line, Tone } from '../story/line.js';
import { quote, say } from '../story/spans.js';

/** Something that is said for a while. */
export interface Notice {
  readonly lines: readonly Line[];
  /** When it goes by itself, in ms since the start. */
  readonly until: number;
}

/** How long a notice stands that asks for nothing. */
const STANDS_MS = 6_000;

/** What there is to say besides calls: of the mock itself, of keys, of what came that is no call. The latest of each. */
export class Notices {
  readonly #shown = new Map<'mock' | 'key' | 'event', Notice>();

  /** Of the mock: what is bad stands until there is something else to say. */
  mock(text: string, tone: Tone, now: number): void {
    const isBad = tone === 'bad' || tone === 'warn';
    const lines = text.split('\n').map(line => quote(line, tone));
    this.#shown.set('mock', { lines, until: isBad ? Number.POSITIVE_INFINITY : now + STANDS_MS });
  }

  key(text: string, now: number, tone: Tone = 'plain'): Notice {
    const notice = { lines: [quote(text, tone)], until: now + STANDS_MS };
    this.#shown.set('key', notice);
    return notice;
  }

  /** What came with a line, and was no part of it, was not obeyed. */
  leftOut(text: string, now: number): void {
    if (text === '') return;
    const line = [say('Left out, since it came in one piece with the line before: ', 'warn'), ...quote(text)];
    this.event(line, now);
  }

  /** What a key said was about the call that is no longer selected. */
  moved(): void {
    this.#shown.delete('key');
  }

  event(line: Line, now: number): void {
    this.#shown.set('event', { lines: [line], until: now + STANDS_MS });
  }

  lines(now: number): readonly Line[] {
    return this.#standing(now).flatMap(({ lines }) => lines);
  }

  /** Nothing else was said since, and it is to be read still. */
  stands(notice: Notice, now: number): boolean {
    return this.#standing(now).includes(notice);
  }

  /** One of them goes by itself. */
  isPassing(now: number): boolean {
    return this.#standing(now).some(({ until }) => Number.isFinite(until));
  }

  #standing(now: number): readonly Notice[] {
    return [...this.#shown.values()].filter(({ until }) => until > now);
  }
}

import type { Line, Tone } from '../story/line.js';
import { quote } from '../story/spans.js';

interface Notice {
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

  key(text: string, now: number, tone: Tone = 'plain'): void {
    this.#shown.set('key', { lines: [quote(text, tone)], until: now + STANDS_MS });
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

  /** One of them goes by itself. */
  isPassing(now: number): boolean {
    return this.#standing(now).some(({ until }) => Number.isFinite(until));
  }

  #standing(now: number): readonly Notice[] {
    return [...this.#shown.values()].filter(({ until }) => until > now);
  }
}

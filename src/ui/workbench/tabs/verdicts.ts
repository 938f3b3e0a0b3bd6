import type { Book } from '../../../exchange/book.js';
import { concerning } from '../../../story/calls/index.js';
import type { Line } from '../../../story/line.js';
import type { Clock } from '../../../system/clock.js';
import { RecentMap } from '../../../text/recent-map.js';
import type { ProblemCount } from '../../calls/problem-titles.js';
import type { Subject } from './sheet.js';
import { isLight, stateOf } from './subject-state.js';

/** How many requirements of the protocol were broken in a call, and how many of those are a MUST. */
export interface Verdict extends ProblemCount {
  readonly musts: number;
}

const SPOTLESS: Verdict = { broken: 0, musts: 0, isLeft: false };
/** Nothing else was to be judged for so long: whoever goes through a list is not kept waiting for it. */
const PAUSE_MS = 200;
/** Where there is always something else, so long after the first. */
const LONGEST_PAUSE_MS = 1_000;
const MOST_WAITING = 100;
const REMEMBERED = 1_000;

interface Known {
  readonly state: string;
  readonly verdict: Verdict;
}

/** What calls came to that are seen: each is judged once for a state of it, in the background, one after another. */
export class Verdicts {
  readonly #known = new WeakMap<Book, RecentMap<string, Known>>();
  readonly #waiting = new Map<string, { readonly subject: Subject; readonly state: string }>();
  #stop: (() => void) | null = null;
  /** When the first was asked for of those that wait. */
  #since: number | null = null;

  /**
   * @param onChange a verdict is another one now, though no event came
   * @param isUnvalidated whether a call of this session was sent as it is, by its key
   */
  constructor(
    private readonly clock: Clock,
    private readonly onChange: () => void,
    private readonly isUnvalidated: (key: string) => boolean,
  ) {}

  /** What is known by now. */
  glance(subject: Subject): Verdict {
    const known = this.#knownOf(subject);
    const state = stateOf(subject);
    if (known?.state === state) return known.verdict;
    if (!isLight(subject)) return { ...(known?.verdict ?? SPOTLESS), isLeft: true };
    this.#ask(subject, state);
    return known?.verdict ?? SPOTLESS;
  }

  /** All that there is to say of a call, judged now. @throws what a rule throws */
  async judge(subject: Subject): Promise<readonly Line[]> {
    const { book, key, redactor } = subject;
    const exchange = book.history.exchanges.get(key);
    if (!exchange) return [];
    const state = stateOf(subject);
    this.#note(subject, { state, verdict: this.#knownOf(subject)?.verdict ?? SPOTLESS }); // nobody asks for it twice
    const { judgedLines } = await import('../../../story/calls/judged-lines.js');
    const isUnvalidated = !book.isSaved && this.isUnvalidated(key);
    const events = concerning(book.whole, exchange);
    const { lines, ...verdict } = await judgedLines(events, exchange, redactor, book, isUnvalidated);
    this.#note(subject, { state, verdict: { ...verdict, isLeft: false } });
    return lines;
  }

  /** Nobody sees anything any more. */
  close(): void {
    this.#waiting.clear();
    this.#stop?.();
  }

  /** Those that were seen last come first. */
  #ask(subject: Subject, state: string): void {
    const waiting = this.#waiting.get(subject.key);
    if (waiting?.state === state && waiting.subject.book === subject.book) return;
    this.#waiting.delete(subject.key);
    this.#waiting.set(subject.key, { subject, state });
    const [oldest] = this.#waiting.keys();
    if (this.#waiting.size > MOST_WAITING && oldest !== undefined) this.#waiting.delete(oldest);
    this.#since ??= this.clock.now();
    this.#sit(Math.max(0, Math.min(PAUSE_MS, this.#since + LONGEST_PAUSE_MS - this.clock.now())));
  }

  #sit(ms: number): void {
    this.#stop?.();
    this.#stop = this.clock.after(ms, () => void this.#judgeNext());
  }

  async #judgeNext(): Promise<void> {
    const { subject } = [...this.#waiting.values()].at(-1) ?? {};
    this.#stop = null;
    this.#since = null;
    if (!subject) return;
    this.#waiting.delete(subject.key);
    const before = this.#knownOf(subject)?.verdict ?? SPOTLESS;
    await this.judge(subject).catch(() => {}); // whoever reads of it is told
    const after = this.#knownOf(subject)?.verdict ?? SPOTLESS;
    if (after.broken !== before.broken || after.musts !== before.musts) this.onChange();
    if (this.#waiting.size > 0 && this.#stop === null) this.#sit(0);
  }

  #knownOf({ book, key }: Subject): Known | undefined {
    return this.#known.get(book)?.get(key);
  }

  #note({ book, key }: Subject, known: Known): void {
    const calls = this.#known.get(book) ?? new RecentMap<string, Known>(REMEMBERED);
    this.#known.set(book, calls);
    calls.set(key, known);
  }
}

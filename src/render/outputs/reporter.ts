import type { Event } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { writeOut } from '../../system/streams.js';
import { type Redactor, redactJson, safeJson } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { arrivalOf, arrivalWarnings, lateText, newArrivalOf } from '../callbacks.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import { misdirected, noticeWarnings } from '../warnings.js';
import { type Trouble, troubleText, warningText } from './trouble.js';

export interface Ending {
  readonly history: History;
  readonly exchange: Exchange | undefined;
  /** Warnings of the command itself: withheld headers, a wildcard bind, arguments that were not validated. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/** Reports events as they happen, the result as soon as the call is settled, and the end. */
export interface Reporter<E = Ending> {
  event?(event: Event): void;
  /** The result has arrived; notices may still be sent. */
  settled?(ending: Ending): Promise<void>;
  /** Lets other code use the terminal during `work`. */
  aside?<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Asks the user. Resolves to the selected index, to the default if the question was dismissed, or to null if the signal aborted it.
   * Further questions are queued.
   */
  choose?(question: UserChoice, signal: AbortSignal): Promise<number | null>;
  /** Restores the terminal: before `end`, and after an internal error. */
  close?(): Promise<void>;
  end(ending: E): Promise<void>;
}

export interface Paper {
  readonly stdout: NodeJS.WritableStream;
  /** For people. Secrets are removed. */
  readonly stderr: { write(text: string): unknown };
  /** `-q`: suppresses warnings. */
  readonly quiet: boolean;
}

export interface PlainOptions {
  readonly level: ColourLevel;
  readonly isTTY: boolean;
  readonly redactor: Redactor;
}

/** Prints warnings, then the failure. @param printed messages that were printed before */
export function tellProblems(
  { stderr, quiet }: Paper,
  warnings: readonly Warning[],
  trouble: Trouble | null,
  printed: ReadonlySet<string> = new Set(),
): void {
  for (const warning of quiet ? [] : warnings)
    if (!printed.has(warning.message)) stderr.write(warningText(warning));
  if (trouble) stderr.write(troubleText(trouble));
}

/** Prints one object, without secrets. */
export function writeJson({ stdout }: Paper, value: unknown, redactor: Redactor): Promise<void> {
  return writeOut(stdout, `${redactJson(safeJson(value, 2), redactor)}\n`);
}

/** Prints one object at the end. Undefined members are left out; after a failure it has all members known so far, and `error`. */
export function objectReporter<E extends Pick<Ending, 'trouble'>>(
  history: History,
  paper: Paper,
  redactor: Redactor,
  reportOf: (ending: E) => object,
) {
  return {
    event: urgentTeller(history, paper),
    async end(ending: E): Promise<void> {
      await writeJson(paper, reportOf(ending), redactor);
      tellProblems(paper, [], ending.trouble);
    },
  };
}

/** Maximum number of characters waiting for a slow reader. */
const MAX_WAITING = 64 * 1024 * 1024;

/**
 * Writes to stdout in order, as fast as the reader allows. Drops events that would fill the memory, and reports how many were dropped
 * (threats, row 30).
 */
export class Page {
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #lost = 0;
  #isBroken = false;

  /** @param lostText describes how many events were dropped */
  constructor(
    private readonly stdout: NodeJS.WritableStream,
    private readonly lostText = (count: number) =>
      `… ${count} events were dropped: the reader of stdout is too slow\n`,
    private readonly max = MAX_WAITING,
  ) {}

  /** Writes a text, even if the buffer is full. */
  write(text: string): void {
    this.last(() => text);
  }

  /** Writes a text after the note about dropped events, even if the buffer is full. */
  last(make: () => string): void {
    const lost = this.#lost > 0 ? this.lostText(this.#lost) : '';
    this.#lost = 0;
    const text = lost + make();
    if (text !== '' && !this.#isBroken) this.#queue(text);
  }

  /** Makes and writes a text, unless the buffer is full. */
  news(make: () => string): void {
    if (this.#waiting > this.max) this.#lost++;
    else this.last(make);
  }

  /** Resolves once everything is written. @throws ProtocolCliError `unwritable-file`, for example if the disk is full. */
  written(): Promise<void> {
    return this.#writing;
  }

  #queue(text: string): void {
    const write = () => writeOut(this.stdout, text);
    const written = this.#waiting === 0 ? write() : this.#writing.then(write);
    this.#waiting += text.length;
    this.#writing = written.finally(() => {
      this.#waiting -= text.length;
    });
    this.#writing.catch(() => {
      this.#isBroken = true; // `written()` rejects
    });
  }
}

/** Maximum number of printed messages remembered. */
const MAX_PRINTED = 1_000;

/**
 * Writes to stderr immediately in every output without a live view: required user actions (a whole consent URL), and problems with
 * callbacks and selections, which are the usual reason for a "timeout".
 * @param printed receives the message of every printed warning
 */
export function urgentTeller(
  history: History,
  { stderr, quiet }: Paper,
  printed: Set<string> = new Set(),
): (event: Event) => void {
  const isDue = powersOfTen();
  return event => {
    const question = questionText(newArrivalOf(history, event));
    if (question !== '') stderr.write(question);
    if (quiet || (event.kind !== 'response' && event.kind !== 'broken')) return;
    for (const { warning, text = warningText(warning) } of newsOf(history, event)) {
      if (printed.size < MAX_PRINTED) printed.add(warning.message);
      if (isDue(warning)) stderr.write(text);
    }
  };
}

/** A warning, and a text to print in its place, if any. */
interface News {
  readonly warning: Warning;
  readonly text?: string;
}

function newsOf(history: History, event: Extract<Event, { kind: 'response' | 'broken' }>): readonly News[] {
  const found = arrivalOf(history, event);
  if (found) return arrivalNews(found.arrival, found.exchange);
  const request = history.untracked.get(event.leg);
  if (!request) return [];
  const warnings = request.purpose === 'choice' ? noticeWarnings(request) : misdirected([request]);
  return warnings.map(warning => ({ warning }));
}

function arrivalNews(arrival: Arrival, exchange: Exchange): readonly News[] {
  const { kind } = arrival.verdict;
  if (kind !== 'rejected' && kind !== 'discarded' && kind !== 'late') return [];
  // The late callback may have crossed the cancel, so the tool is not to blame.
  if (kind === 'late' && exchange.settled?.by === 'cancel') {
    const message = `a ${lateText(arrival, exchange)}`;
    return [{ warning: { message }, text: `${message}\n` }];
  }
  return arrivalWarnings(arrival, exchange).map(warning => ({ warning }));
}

function questionText(arrival: Arrival | null): string {
  if (arrival?.verdict.kind !== 'holds') return '';
  const { message } = arrival;
  if (message?.type === 'oauth') return `visit this URL to continue: ${visibleLine(message.auth_url)}\n`;
  return message?.type === 'user_choice' ? `the tool asks: ${visibleLine(message.prompt)}\n` : '';
}

/** Maximum number of different texts printed per requirement. */
const MAX_TEXTS = 10;

/**
 * Returns true for the first, tenth, hundredth warning of a kind: a flood must not hide other warnings, even if all its texts differ
 * (threats, row 15). The total is printed at the end.
 */
function powersOfTen(): (warning: Warning) => boolean {
  const counts = new Map<string, number>();
  const texts = new Map<Warning['id'], number>();
  const subjectOf = ({ id, message }: Warning) => {
    if (id === 'TOOL-OPAQUE') return id; // guessed addresses all differ
    if (counts.has(message)) return message;
    const known = texts.get(id) ?? 0;
    texts.set(id, known + 1);
    return known < MAX_TEXTS ? message : `other texts: ${id}`;
  };
  return warning => {
    const subject = subjectOf(warning);
    const count = (counts.get(subject) ?? 0) + 1;
    counts.set(subject, count);
    return Number.isInteger(Math.log10(count));
  };
}

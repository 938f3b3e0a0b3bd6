import type { Writable } from 'node:stream';
import type { EndEvent, Event } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { type BoundedOutput, outputOf } from '../../system/streams.js';
import type { Redactor } from '../../util/redact.js';
import { redactJson } from '../../util/redact-json.js';
import { safeJson } from '../../util/safe-json.js';
import { visibleLine } from '../../util/visible.js';
import { arrivalOf, arrivalWarnings, lateText, newArrivalOf } from '../callbacks.js';
import type { Background } from '../terminal/background.js';
import type { ColourLevel } from '../terminal/colour-level.js';
import type { Colours } from '../terminal/theme.js';
import { misdirected, noticeWarnings } from '../warnings.js';
import { type Trouble, troubleText, warningText } from './trouble.js';

export interface Ending {
  readonly history: History;
  readonly exchange: Exchange | undefined;
  /** Warnings of the command itself: withheld headers, a wildcard bind, arguments that were not validated. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/**
 * Asks the user. Resolves to the selected index, to the default if the question was dismissed, or to null if the signal aborted it.
 * Further questions are queued.
 */
export type AskForChoice = (question: UserChoice, signal: AbortSignal) => Promise<number | null>;

/** Reports events as they happen, the result as soon as the call is settled, and the end. */
export interface Reporter<E = Ending> {
  event?(event: Event): void;
  /** The result has arrived; notices may still be sent. */
  settled?(ending: Ending): Promise<void>;
  /** Lets other code use the terminal during `work`. */
  lendTerminal?<T>(work: () => Promise<T>): Promise<T>;
  readonly choose?: AskForChoice;
  /** Restores the terminal: before `end`, and after an internal error. */
  close?(): Promise<void>;
  end(ending: E): Promise<void>;
}

interface Streams extends Colours {
  readonly stdout: Writable & { readonly isTTY?: boolean; readonly columns?: number };
  /** For people. Secrets are removed. */
  readonly stderr: { write(text: string): unknown };
  /** Whether both are the same file or pipe (`2>&1`). */
  readonly isShared?: boolean;
  /** `-q`: suppresses warnings. */
  readonly quiet: boolean;
  readonly redactor: Redactor;
}

/** Maximum number of printed messages remembered. */
const MAX_PRINTED = 1_000;

/** The output of a command: results go to stdout, warnings and failures to stderr. */
export class Page {
  readonly out: BoundedOutput;
  readonly redactor: Redactor;
  readonly level: ColourLevel;
  readonly background: Background;
  readonly quiet: boolean;
  /** Only the user sees stdout; a file or a pipe is a log. */
  readonly isTTY: boolean;
  /** The width of the terminal; null for a file or a pipe, whose lines are whole. */
  readonly columns: number | null;
  /** The messages of warnings that were printed before the end. */
  readonly #printed = new Set<string>();
  readonly #isDue = powersOfTen();
  /** Whether the last text on stdout does not end with a line feed. */
  isMidLine = false;

  constructor(
    readonly history: History,
    private readonly streams: Streams,
  ) {
    this.out = outputOf(streams.stdout);
    this.redactor = streams.redactor;
    this.level = streams.level;
    this.background = streams.background ?? 'dark';
    this.quiet = streams.quiet;
    this.isTTY = streams.stdout.isTTY === true;
    this.columns = this.isTTY ? (streams.stdout.columns ?? null) : null;
  }

  /** Lets other code use the terminal during `work`, after earlier output. */
  lendTerminal = async <T>(work: () => Promise<T>): Promise<T> => {
    await this.out.written();
    return work();
  };

  /**
   * Writes to stderr immediately: required user actions (a whole consent URL), and problems with callbacks and selections, which are the
   * usual reason for a "timeout". The history must have the event.
   */
  urgent = (event: Event): void => {
    const { history, quiet } = this;
    const question = questionText(newArrivalOf(history, event));
    if (question !== '') this.#print(question);
    if (quiet || (event.kind !== 'response' && event.kind !== 'broken')) return;
    for (const { warning, text = warningText(warning) } of printedWarnings(history, event)) {
      if (this.#printed.size < MAX_PRINTED) this.#printed.add(warning.message);
      if (this.#isDue(warning)) this.#print(text);
    }
  };

  /** Prints one object without secrets, then the failure. Undefined members are left out. */
  object(value: unknown, trouble: Trouble | null): Promise<void> {
    this.out.write(`${redactJson(safeJson(value, 2), this.redactor)}\n`);
    return this.end([], trouble);
  }

  /** Prints warnings, then the failure. @param ofMany calls: prints even the warnings that were printed before */
  async end(warnings: readonly Warning[], trouble: Trouble | null, ofMany = false): Promise<void> {
    await this.out.written();
    for (const warning of this.quiet ? [] : warnings)
      if (ofMany || !this.#printed.has(warning.message)) this.#print(warningText(warning));
    if (trouble) this.#print(troubleText(trouble));
  }

  /** Prints to stderr, on a line of its own also with `2>&1`. */
  #print(text: string): void {
    const { stderr, isShared = false } = this.streams;
    stderr.write(isShared && this.isMidLine ? `\n${text}` : text);
    this.isMidLine = false;
  }
}

/** Prints one object at the end; after a failure it has all members known so far, and `error`. */
export function jsonReporter<E extends Pick<Ending, 'trouble'>>(
  page: Page,
  reportOf: (ending: E) => unknown,
): Reporter<E> {
  return { event: page.urgent, end: ending => page.object(reportOf(ending), ending.trouble) };
}

/** A warning, and a text to print in its place, if any. */
interface PrintedWarning {
  readonly warning: Warning;
  readonly text?: string;
}

function printedWarnings(history: History, event: EndEvent): readonly PrintedWarning[] {
  const found = arrivalOf(history, event);
  if (found) return arrivalNews(found.arrival, found.exchange);
  const request = history.untracked.get(event.leg);
  if (!request) return [];
  const warnings = request.purpose === 'choice' ? noticeWarnings(request) : misdirected([request]);
  return warnings.map(warning => ({ warning }));
}

function arrivalNews(arrival: Arrival, exchange: Exchange): readonly PrintedWarning[] {
  const { kind } = arrival.verdict;
  if (kind !== 'rejected' && kind !== 'discarded' && kind !== 'late') return [];
  const warnings = arrivalWarnings(arrival, exchange);
  if (kind === 'late' && warnings.length === 0) {
    const message = `a ${lateText(arrival, exchange)}`;
    return [{ warning: { message }, text: `${message}\n` }];
  }
  return warnings.map(warning => ({ warning }));
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

import type { Event } from '../../events/events.js';
import type { Arrival, Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { writeOut } from '../../system/streams.js';
import { type Redactor, redactJson, safeJson } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { arrivalOf, arrivalWarnings, lateText, newArrivalOf } from '../callbacks.js';
import { misdirected, noticeWarnings } from '../warnings.js';
import { type Trouble, troubleText, warningText } from './trouble.js';

/** What a reporter tells at the end. */
export interface Ending {
  readonly history: History;
  readonly exchange: Exchange | undefined;
  /** What the command itself has to warn of: withheld headers, a wildcard bind, arguments that were not checked. */
  readonly notes: readonly Warning[];
  readonly trouble: Trouble | null;
}

/** One way to tell what happens: as it happens, as soon as the call is settled, and at the end. */
export interface Reporter {
  event?(event: Event): void;
  /** The result is here; notices may still go out. */
  settled?(ending: Ending): Promise<void>;
  /** Lets other code use the terminal meanwhile. */
  aside?<T>(work: () => Promise<T>): Promise<T>;
  /**
   * Asks the person at the terminal: the index that was picked, the default where the question was dismissed, null where the signal
   * called it off. Questions that come meanwhile are asked one after another.
   */
  choose?(question: UserChoice, signal: AbortSignal): Promise<number | null>;
  /** Leaves the terminal in order: before `end`, and where a fault of ours leaves nothing to tell. */
  close?(): Promise<void>;
  end(ending: Ending): Promise<void>;
}

/** Where reporters write. */
export interface Paper {
  readonly stdout: NodeJS.WritableStream;
  /** For people; no secret gets through. */
  readonly stderr: { write(text: string): unknown };
  /** `-q`: no warnings. */
  readonly quiet: boolean;
}

/** Writes what is worth a warning, then why it failed. @param told messages that were printed before */
export function tellProblems(
  { stderr, quiet }: Paper,
  warnings: readonly Warning[],
  trouble: Trouble | null,
  told: ReadonlySet<string> = new Set(),
): void {
  for (const warning of quiet ? [] : warnings)
    if (!told.has(warning.message)) stderr.write(warningText(warning));
  if (trouble) stderr.write(troubleText(trouble));
}

/** One object, without secrets. */
export function writeJson({ stdout }: Paper, value: unknown, redactor: Redactor): Promise<void> {
  return writeOut(stdout, `${redactJson(safeJson(value, 2), redactor)}\n`);
}

/** Characters that may wait for a reader. */
const MAX_WAITING = 64 * 1024 * 1024;

/**
 * Writes to stdout in order, as fast as its reader takes it. News that would fill the memory are dropped, and their number is
 * written: never in silence (threats, row 30).
 */
export class Page {
  #writing: Promise<void> = Promise.resolve();
  #waiting = 0;
  #lost = 0;
  #isBroken = false;

  /** @param lostText says how many news were dropped */
  constructor(
    private readonly stdout: NodeJS.WritableStream,
    private readonly lostText = (count: number) =>
      `… ${count} events were dropped: the reader of stdout is too slow\n`,
    private readonly most = MAX_WAITING,
  ) {}

  /** Written in any case. */
  write(text: string): void {
    this.last(() => text);
  }

  /** Written in any case, and made after the note about what was lost. */
  last(make: () => string): void {
    const lost = this.#lost > 0 ? this.lostText(this.#lost) : '';
    this.#lost = 0;
    const text = lost + make();
    if (text !== '' && !this.#isBroken) this.#queue(text);
  }

  /** Written if there is room; otherwise it is not even made. */
  news(make: () => string): void {
    if (this.#waiting > this.most) this.#lost++;
    else this.last(make);
  }

  /** Resolves once everything is written. @throws ProtocolCliError `unwritable-file`, as on a full disk. */
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

/** Messages that are remembered as printed. */
const MAX_TOLD = 1_000;

/**
 * Writes to stderr at once, in every output without a live view: what the user has to do (a consent URL, whole), and what went wrong
 * with a callback or a selection: the usual reason for a "timeout".
 * @param told gets the message of every warning that was printed
 */
export function urgentTeller(
  history: History,
  { stderr, quiet }: Paper,
  told: Set<string> = new Set(),
): (event: Event) => void {
  const isDue = rarely();
  return event => {
    const question = questionText(newArrivalOf(history, event));
    if (question !== '') stderr.write(question);
    if (quiet || (event.kind !== 'response' && event.kind !== 'broken')) return;
    for (const { warning, text = warningText(warning) } of newsOf(history, event)) {
      if (told.size < MAX_TOLD) told.add(warning.message);
      if (isDue(warning)) stderr.write(text);
    }
  };
}

/** A warning, and its text where it is not printed as a warning. */
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
  // A callback that came after a cancel may have crossed it: the tool is not to blame.
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

/** Texts of one requirement that are printed one by one. */
const MAX_TEXTS = 10;

/**
 * Whether a warning is the first, the tenth, the hundredth of its kind: a flood must not hide the rest, nor one whose texts all differ
 * (threats, row 15). The end says how many there were.
 */
function rarely(): (warning: Warning) => boolean {
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

import type { Event } from '../../events/events.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { UserChoice } from '../../protocol/callbacks.js';
import type { Warning } from '../../protocol/requirements.js';
import { writeOut } from '../../system/streams.js';
import type { FailureCode } from '../failure.js';

/** Something that could not be done, in the shape of an error of ours. */
export interface Trouble {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string | undefined;
  readonly faults?: readonly string[];
}

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

/** Characters that may wait for a reader. */
const MOST_WAITING = 64 * 1024 * 1024;

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
    private readonly lostText: (count: number) => string = () => '',
    private readonly most = MOST_WAITING,
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

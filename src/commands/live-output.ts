import { Writable } from 'node:stream';
import type { Event } from '../events/events.js';
import { streamTranscript, type TranscriptAbout } from '../events/transcript-writer.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';
import { outputOf, writeOut } from '../system/streams.js';
import type { Redactor } from '../util/redact.js';
import { visible } from '../util/visible.js';
import type { ServerOutput } from './options.js';
import { colourOf, type Terminal } from './terminal.js';

/** Shows the events of a server while it runs. */
export interface LiveOutput {
  /** Shows a message about the server itself. */
  notice(text: string, isBad?: boolean): void;
  warn(texts: readonly string[]): void;
  /** Resolves when the user quits; never resolves without a screen. */
  readonly quit: Promise<void>;
  close(): Promise<void>;
}

/** Creates the printer of lines for people. */
export type LinePrinter = (stream: Writable, level: ColourLevel) => (event: Event) => void;

interface LineOptions {
  readonly output: ServerOutput;
  readonly flags: { readonly color: boolean; readonly quiet?: boolean };
  readonly command?: readonly string[] | null;
  readonly subscribe: Subscribe;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly printer: LinePrinter;
  /** Prints the lines when the command has ended: before that they would stand in its own output. */
  readonly isHeld?: boolean;
}

/** Prints lines for people, or every event as JSON. Lines go to stdout if it is a terminal and no command runs. */
export function startLines(
  { output, flags, command = null, subscribe, redactor, about, printer, isHeld = false }: LineOptions,
  terminal: Terminal,
): LiveOutput {
  const { stdout, stderr } = terminal;
  const stream = stdout.isTTY === true && command === null ? stdout : stderr;
  let end: (reason: string) => unknown = () => {};
  if (output === 'ndjson') {
    const bounded = outputOf(stdout);
    bounded.onError(error => void Promise.reject(error)); // ends the server
    const transcript = streamTranscript(bounded, redactor, about);
    subscribe(transcript.event);
    end = reason => {
      transcript.end(reason);
      return bounded.written();
    };
  } else if (!flags.quiet) {
    const held = isHeld ? new HeldLines() : null;
    const stop = subscribe(printer(held ?? stream, colourOf(stream, flags, terminal)));
    end = async () => {
      stop();
      if (held) await writeOut(stream, await held.text());
    };
  }
  const notice = (text: string, isBad = false) =>
    void stderr.write(`${isBad ? 'warning: ' : ''}${visible(text)}\n`);
  return {
    notice,
    warn: texts => {
      for (const text of texts) notice(text, true);
    },
    quit: new Promise(() => {}),
    close: async () => void (await end('done')),
  };
}

/** Keeps the latest lines; the others are counted. */
class HeldLines extends Writable {
  readonly #lines: string[] = [];
  #dropped = 0;

  constructor() {
    super({ decodeStrings: false });
  }

  override _write(text: string, _: BufferEncoding, done: () => void): void {
    this.#lines.push(...text.split('\n').slice(0, -1));
    const more = this.#lines.length - MAX_HELD;
    if (more > 0) {
      this.#lines.splice(0, more);
      this.#dropped += more;
    }
    done();
  }

  async text(): Promise<string> {
    await outputOf(this).written();
    const dropped = this.#dropped > 0 ? [`… ${this.#dropped} earlier lines were dropped`] : [];
    return [...dropped, ...this.#lines].map(line => `${line}\n`).join('');
  }
}

/** Maximum number of lines that are kept while a command runs. */
const MAX_HELD = 1_000;

interface ServerScreen {
  readonly view: Pick<LiveOutput, 'notice'> & { readonly summary: () => string };
  close(): Promise<void>;
}

/** @param open draws the screen; its quit key calls `onQuit` */
export function startScreen(
  open: (onQuit: () => void) => ServerScreen,
  { stderr }: Pick<Terminal, 'stderr'>,
): LiveOutput {
  let onQuit = () => {};
  const quit = new Promise<void>(resolve => {
    onQuit = resolve;
  });
  const { view, close } = open(() => onQuit());
  return {
    quit,
    notice: (text, isBad) => view.notice(text, isBad),
    warn: texts => {
      if (texts.length > 0) view.notice(texts.join('\n'), true);
    },
    async close() {
      await close();
      stderr.write(`${view.summary()}\n`); // the screen is closed, so print its summary
    },
  };
}

/** Subscribes a listener to events. Returns how to stop. */
export type Subscribe = (listener: (event: Event) => void) => () => void;

/** Also calls the listener for all past events. */
export function subscribeToAll(source: {
  readonly events: Iterable<Event>;
  readonly subscribe: Subscribe;
}): Subscribe {
  return listener => {
    for (const event of source.events) listener(event);
    return source.subscribe(listener);
  };
}

import type { Event } from '../events/events.js';
import { streamTranscript, type TranscriptAbout } from '../events/transcript-writer.js';
import type { ColourLevel } from '../render/terminal/colour-level.js';
import { outputOf } from '../system/streams.js';
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
export type LinePrinter = (stream: NodeJS.WriteStream, level: ColourLevel) => (event: Event) => void;

interface LineOptions {
  readonly output: ServerOutput;
  readonly flags: { readonly color: boolean; readonly quiet?: boolean };
  readonly command?: readonly string[] | null;
  readonly subscribe: Subscribe;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
  readonly printer: LinePrinter;
}

/** Prints lines for people, or every event as JSON. Lines go to stdout if it is a terminal and no command runs. */
export function startLines(
  { output, flags, command = null, subscribe, redactor, about, printer }: LineOptions,
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
  } else if (!flags.quiet) end = subscribe(printer(stream, colourOf(stream, flags, terminal)));
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

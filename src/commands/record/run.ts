import { callEndsText } from '../../events/call-ends.js';
import type { Event } from '../../events/events.js';
import type { EventRedactor } from '../../events/shareable.js';
import { wireSecrets } from '../../events/shareable.js';
import { PROTOCOL_WORDS } from '../../protocol/callbacks.js';
import { startRecorder } from '../../record/recorder.js';
import { serverPlain } from '../../render/outputs/server-plain.js';
import { createRunnableClock } from '../../system/clock.js';
import { ignoreClosedPipes } from '../../system/streams.js';
import { isCredentialHeader, secretsOfHeaders } from '../../util/credentials.js';
import { createRedactor } from '../../util/redact.js';
import { shellWord } from '../../util/shell-word.js';
import { readUrl } from '../../util/url.js';
import { valueAt } from '../../util/values.js';
import { startLines } from '../live-output.js';
import { type ServerFlags, usageError } from '../options.js';
import { networkWarnings, printReady, runServer } from '../run-server.js';
import { requireUrl } from '../target.js';
import { ownCommand, type Terminal } from '../terminal.js';
import { createTranscriptFile } from '../transcript-file.js';

/** Shorter values may be ordinary words. */
const MIN_CREDENTIAL_LENGTH = 8;

const IDS = ['id', 'group_id', 'call_id', 'tool_call_id', 'thread_id', 'session_id'];

/** Finds the secrets of a recording in its events (threats, row 25), and credentials that either side sends in headers. */
export function recordedSecrets(): EventRedactor {
  const credentials = createRedactor();
  const secrets = wireSecrets(credentials);
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      for (const secret of credentialsIn(event)) credentials.add(secret);
    },
  };
}

/** Ids of the message are kept even if a header repeats them: a recording without ids is useless. */
function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => isCredentialHeader(name));
  if (named.length === 0) return [];
  const fields = IDS.map(name => valueAt(event.body?.json, 'value', name));
  const ids = [...fields, ...(event.calls ?? []), event.thread];
  return secretsOfHeaders(Object.fromEntries(named)).filter(
    value => value.length >= MIN_CREDENTIAL_LENGTH && !ids.includes(value) && !PROTOCOL_WORDS.has(value),
  );
}

interface RecordFlags extends ServerFlags {
  readonly callbackUrl?: string;
  readonly allowCallback?: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
  /** Milliseconds. */
  readonly drain: number;
  readonly save?: string;
  readonly output: 'plain' | 'ndjson';
}

/** @throws ProtocolCliError `usage`. */
function recorderOptions(url: string, flags: RecordFlags) {
  const { save, output, host, port, allowHost = [], callbackUrl = null, allowCallback = [] } = flags;
  if (save === undefined && output !== 'ndjson')
    throw usageError('no output for the recording', 'Add --save <file>, or -o ndjson for stdout.');
  if (save === '-')
    throw usageError('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  return {
    url: toolUrl(url),
    host,
    port,
    maxBody: flags.maxBody,
    drainMs: flags.drain,
    allowHosts: allowHost,
    allowCallbacks: allowCallback,
    callbackBase: callbackUrl,
  };
}

function toolUrl(word: string): string {
  if (readUrl(word)?.username || readUrl(word)?.password)
    throw usageError(
      'the URL of the tool contains a user name or password',
      'Remove them: the recorder forwards the headers of the runtime to the tool.',
    );
  return requireUrl(word);
}

/**
 * Runs `record` until it is stopped, which is its normal end.
 * @throws ProtocolCliError `usage`; `unwritable-file` if the file exists, and at the end if something could not be written.
 */
export async function runRecord(url: string, flags: RecordFlags, terminal: Terminal): Promise<number> {
  const options = recorderOptions(url, flags);
  const { save: path } = flags;
  const clock = createRunnableClock();
  return runServer({ terminal, clock, observer: 'recorder' }, async (run, onClose) => {
    const { log, about } = run;
    const stopMeasuring = clock.after(Number.POSITIVE_INFINITY, () => {}); // the clock measures only while something waits
    onClose(async () => stopMeasuring());
    const redactor = recordedSecrets();
    const onForcedEnd = run.stderr.write;
    const file =
      path === undefined ? null : await createTranscriptFile(path, redactor, about, { onForcedEnd });
    let summary: (() => string) | null = null;
    run.onTranscriptEnd(async reason => {
      await file?.close(reason);
      if (file && summary && !flags.quiet) run.stderr.write(`${summary()}\n`);
    });
    log.storeEventsIn({
      take(event) {
        redactor.learn(event); // must run before the event is written
        file?.take(event);
      },
      stored: async () => file?.stored(),
    });
    const recorder = await startRecorder(log, options);
    let isOver = false;
    onClose(async () => {
      isOver = true;
      await recorder.close();
    });
    const { port, url: own } = recorder;
    summary = () => {
      const ends = recorder.callEnds();
      if (ends.size === 0) return `0 calls: no invocation was sent to ${own}`;
      return `${callEndsText(ends)}. Next: ${ownCommand(terminal)} check ${shellWord(path ?? '', process.platform)}`;
    };
    const { stdout } = terminal;
    printReady({ port, url: own }, `recording ${options.url}: point the runtime at ${own}`, terminal);
    if (flags.output === 'ndjson') ignoreClosedPipes(stdout);
    const output = startLines(
      {
        output: flags.output,
        flags,
        redactor,
        about,
        subscribe: listener => log.subscribe(listener),
        printer: (stream, level) => serverPlain('recorder', stream, { level, redactor }),
      },
      terminal,
    );
    onClose(() => output.close());
    output.warn(networkWarnings(flags));
    // The tool may start later; the recorder then finds it with the first request.
    void recorder.findTool().then(isFound => {
      if (!isFound && !isOver) output.warn([`no toolset at ${options.url} yet`]);
    });
    // If stdout is the only recording, recording ends when the reader of stdout is gone.
    const readerGone = new Promise(resolve => stdout.once('error', resolve));
    return { quit: path === undefined ? readerGone : new Promise(() => {}) };
  });
}

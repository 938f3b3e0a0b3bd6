import type { Event } from '../../events/events.js';
import type { EventRedactor } from '../../events/shareable.js';
import { PROTOCOL_WORDS } from '../../protocol/callbacks.js';
import { fieldsOf } from '../../record/forwarder.js';
import {
  createTranscriptFile,
  type Recorder,
  type RecorderOptions,
  startRecorder,
} from '../../record/recorder.js';
import { counted } from '../../render/line.js';
import { keepHeapTight } from '../../system/process.js';
import { quietPipes } from '../../system/streams.js';
import { isCredentialHeader, secretsOf } from '../../util/credentials.js';
import { createRedactor } from '../../util/redact.js';
import { readUrl } from '../../util/url.js';
import { refuseToReplace, wireSecrets } from '../event-output.js';
import { type ServerFlags, usage } from '../options.js';
import { NEVER, networkWarnings, printReady, runServer, startLines } from '../run-server.js';
import { asUrl } from '../target.js';
import type { Terminal } from '../terminal.js';

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
  const fields = fieldsOf(event.body);
  const ids = [...IDS.map(name => fields[name]), ...(event.calls ?? []), event.thread];
  return secretsOf(Object.fromEntries(named)).filter(
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
function recorderOptions(url: string, flags: RecordFlags): RecorderOptions {
  const { save, output, host, port, allowHost = [], callbackUrl = null, allowCallback = [] } = flags;
  if (save === undefined && output !== 'ndjson')
    throw usage('no output for the recording', 'Add --save <file>, or -o ndjson for stdout.');
  if (save === '-') throw usage('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  return {
    ...{ url: toolUrl(url), host, port, maxBody: flags.maxBody, drainMs: flags.drain },
    ...{ allowHosts: allowHost, allowCallbacks: allowCallback, callbackBase: callbackUrl },
  };
}

function toolUrl(word: string): string {
  if (readUrl(word)?.username || readUrl(word)?.password)
    throw usage(
      'the URL of the tool contains a user name or password',
      'Remove them: the recorder forwards the headers of the runtime to the tool.',
    );
  const url = asUrl(word);
  if (url !== null) return url;
  throw usage(`invalid URL: ${word}`, 'Give the base URL of the tool, such as http://127.0.0.1:3001.');
}

/**
 * Runs `record` until it is stopped, which is its normal end.
 * @throws ProtocolCliError `usage` if the file exists; also at the end if something could not be written.
 */
export async function runRecord(url: string, flags: RecordFlags, terminal: Terminal): Promise<number> {
  const options = recorderOptions(url, flags);
  const { save: path } = flags;
  if (path !== undefined) await refuseToReplace(path, '--save');
  keepHeapTight();
  return runServer({ terminal, observer: 'recorder' }, async (run, onClose) => {
    const { log, about } = run;
    const redactor = recordedSecrets();
    const file = path === undefined ? null : await createTranscriptFile(path, redactor, about);
    let recorder: Recorder | null = null;
    run.onTranscriptEnd(async reason => {
      await file?.close(reason);
      if (!recorder) await file?.remove();
      else if (file && !flags.quiet)
        run.stderr.write(`wrote ${path} (${counted(recorder.calls(), 'call')})\n`);
    });
    log.keep({
      take(event) {
        redactor.learn(event); // must run before the event is written
        file?.take(event);
      },
      kept: async () => file?.kept(),
    });
    const started = await startRecorder(log, options);
    recorder = started;
    let isOver = false;
    onClose(async () => {
      isOver = true;
      await started.close();
    });
    const { port, url: own } = started;
    const { stdout } = terminal;
    printReady({ port, url: own }, `recording ${options.url}: point the runtime at ${own}`, terminal);
    if (flags.output === 'ndjson') quietPipes(stdout);
    const output = await startLines(
      {
        ...{ output: flags.output, flags, redactor, about },
        subscribe: listener => log.subscribe(listener),
        printer: async (stream, level) =>
          (await import('../../render/outputs/server-plain.js')).recordedPlain(stream, { level, redactor }),
      },
      terminal,
    );
    onClose(() => output.close());
    output.warn(networkWarnings(flags));
    // The tool may start later; the recorder then finds it with the first request.
    void started.findTool().then(isFound => {
      if (!isFound && !isOver) output.warn([`no toolset at ${options.url} yet`]);
    });
    // If stdout is the only recording, recording ends when the reader of stdout is gone.
    const readerGone = new Promise(resolve => stdout.once('error', resolve));
    return { quit: path === undefined ? readerGone : NEVER };
  });
}

import type { Event } from '../../events/events.js';
import { createLog, type GroupKeeper, type Log } from '../../events/log.js';
import type { EventRedactor } from '../../events/shareable.js';
import type { TranscriptAbout } from '../../events/transcript-writer.js';
import { PROTOCOL_WORDS } from '../../protocol/words.js';
import { createTranscriptFile, fieldsOf } from '../../record/forward.js';
import type { RecorderOptions } from '../../record/recorded-calls.js';
import { type Recorder, startRecorder } from '../../record/recorder.js';
import { warningText } from '../../render/outputs/trouble.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { quietPipes } from '../../system/streams.js';
import { keepHeapTight } from '../../system/watch-files.js';
import { isCredentialHeader, secretsOf } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { readUrl } from '../../util/strings.js';
import { colourOf, type Subscribe, streamForPeople, streamTranscript } from '../output.js';
import { networkWarnings, printReady } from '../run-server.js';
import { refuseToReplace, wireSecrets } from '../save-files.js';
import { asUrl } from '../target.js';
import { type ExitStatus, type Interruption, interruption, PROGRAM, type Terminal } from '../terminal.js';

/** Shorter values may be ordinary words. */
const MIN_CREDENTIAL_LENGTH = 8;
const IDS = ['id', 'group_id', 'call_id', 'tool_call_id', 'thread_id', 'session_id'];

/** Learns the secrets of a recording from its events (threats, row 25), with the credentials that either side sends in headers. */
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

/** Ids of the message stay even if a header repeats them: without ids a recording is useless. */
function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => isCredentialHeader(name));
  const told = named.length > 0 ? idsIn(event) : [];
  const isSecret = (value: string) => !told.includes(value) && !PROTOCOL_WORDS.has(value);
  return secretsOf(Object.fromEntries(named)).filter(
    value => value.length >= MIN_CREDENTIAL_LENGTH && isSecret(value),
  );
}

function idsIn({ body, calls = [], thread }: Extract<Event, { kind: 'request' | 'response' }>): unknown[] {
  const fields = fieldsOf(body);
  return [...IDS.map(name => fields[name]), ...calls, thread];
}

/** The options of `record`, as commander hands them over. */
export interface RecordFlags {
  readonly host: string;
  readonly port: number;
  readonly allowHost?: readonly string[];
  readonly callbackUrl?: string;
  readonly allowCallback?: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
  /** Milliseconds. */
  readonly drain: number;
  readonly save?: string;
  readonly output: 'plain' | 'ndjson';
  readonly quiet?: true;
  readonly color: boolean;
}

interface RecordPlan {
  readonly recorder: RecorderOptions;
  /** Null if the events on stdout are the only recording. */
  readonly file: string | null;
}

/** @throws ProtocolCliError `usage`. */
export function planRecord(url: string, flags: RecordFlags): RecordPlan {
  const {
    save: file = null,
    output,
    host,
    port,
    allowHost,
    callbackUrl,
    allowCallback,
    maxBody,
    drain,
  } = flags;
  if (file === null && output !== 'ndjson')
    throw usage('no output for the recording', 'Add --save <file>, or -o ndjson for stdout.');
  if (file === '-') throw usage('--save needs a file name', '-o ndjson writes the transcript to stdout.');
  const recorder = {
    ...{ url: toolUrl(url), host, port, maxBody, drainMs: drain },
    ...(allowHost && { allowHosts: allowHost }),
    ...(allowCallback && { allowCallbacks: allowCallback }),
    ...(callbackUrl !== undefined && { callbackBase: callbackUrl }),
  };
  return { recorder, file };
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

function usage(message: string, hint: string): ProtocolCliError {
  return new ProtocolCliError('usage', message, { hint });
}

function printRecorder(
  { port, url }: Recorder,
  toolUrl: string,
  flags: RecordFlags,
  terminal: Terminal,
): void {
  printReady({ port, url }, `recording ${toolUrl}: point the runtime at ${url}`, terminal);
  for (const message of networkWarnings(flags)) terminal.stderr.write(warningText({ message }));
}

/** Prints events while they happen. Returns how to end the output. */
async function startOutput(
  log: Log,
  flags: RecordFlags,
  terminal: Terminal,
  redactor: Redactor,
  about: TranscriptAbout,
): Promise<(reason: string) => void> {
  const subscribe: Subscribe = listener => log.subscribe(listener);
  if (flags.output === 'ndjson') {
    quietPipes(terminal.stdout);
    return streamTranscript(subscribe, terminal.stdout, redactor, about);
  }
  if (flags.quiet) return () => {};
  const { recordedPlain } = await import('../../render/outputs/recorded-plain.js');
  const stream = streamForPeople(terminal);
  return subscribe(recordedPlain(stream, { level: colourOf(stream, flags, terminal), redactor }));
}

/**
 * Runs `record` until it is stopped, which is its normal end.
 * @throws ProtocolCliError `usage` if the file exists; also at the end if something could not be written.
 */
export async function runRecord(
  url: string,
  flags: RecordFlags,
  terminal: Terminal,
  clock: Clock = systemClock,
): Promise<ExitStatus> {
  const plan = planRecord(url, flags);
  if (plan.file !== null) await refuseToReplace(plan.file, '--save');
  keepHeapTight();
  const log = createLog(() => clock.now());
  const redactor = recordedSecrets();
  const about = { startedAt: clock.wall().toISOString(), observer: 'recorder', program: PROGRAM } as const;
  const file = plan.file === null ? null : await createTranscriptFile(plan.file, redactor, about);
  const interrupted = interruption();
  log.keep(learning(redactor, file));
  let [reason, hasStarted] = ['done', false];
  try {
    await using recorder = await startRecorder(log, { ...plan.recorder, clock });
    hasStarted = true;
    printRecorder(recorder, plan.recorder.url, flags, terminal);
    const endOutput = await startOutput(log, flags, terminal, redactor, about);
    void warnWithoutTool(recorder, plan.recorder.url, terminal, interrupted);
    await untilStopped(plan, terminal, interrupted);
    await recorder.close();
    endOutput('done');
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    interrupted.release();
    await file?.close(reason);
    if (file && !hasStarted) await file.remove();
  }
  return 0;
}

/** Learns secrets from an event before anything of it is written. */
function learning(redactor: EventRedactor, file: GroupKeeper | null): GroupKeeper {
  return {
    take(event: Event) {
      redactor.learn(event);
      file?.take(event);
    },
    kept: async () => file?.kept(),
  };
}

/** The tool may start later; the recorder then finds it with the first request. */
async function warnWithoutTool(
  recorder: Recorder,
  url: string,
  { stderr }: Terminal,
  { signal }: Interruption,
): Promise<void> {
  const isFound = await recorder.findTool();
  if (!isFound && !signal.aborted) stderr.write(warningText({ message: `no toolset at ${url} yet` }));
}

/** Waits for a signal; if stdout is the only recording, also for its reader to go away. */
function untilStopped({ file }: RecordPlan, { stdout }: Terminal, interrupted: Interruption): Promise<void> {
  return new Promise(resolve => {
    interrupted.onSignal(resolve);
    if (file === null) stdout.once('error', () => resolve());
  });
}

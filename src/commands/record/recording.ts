import { lstat } from 'node:fs/promises';
import { join, parse } from 'node:path';
import { type CallEndCounts, callEndsText } from '../../events/call-ends.js';
import type { Event } from '../../events/events.js';
import type { EventRedactor } from '../../events/shareable.js';
import { wireSecrets } from '../../events/shareable.js';
import { PROTOCOL_WORDS } from '../../protocol/callbacks.js';
import { serverPlain } from '../../render/outputs/server-plain.js';
import { isEmptyFile } from '../../system/atomic-file.js';
import { isCredentialHeader, secretsOfHeaders } from '../../util/credentials.js';
import { createRedactor } from '../../util/redact.js';
import { shellWord } from '../../util/shell-word.js';
import { valueAt } from '../../util/values.js';
import { type LiveOutput, startLines } from '../live-output.js';
import { type ServerFlags, usageError } from '../options.js';
import type { Run } from '../run.js';
import { type Terminal, withOwnCommand } from '../terminal.js';
import { createTranscriptFile, type TranscriptFile } from '../transcript-file.js';

export interface RecordFlags extends ServerFlags {
  /** The URL of an MCP server, or `stdio`. */
  readonly mcp?: string;
  /** Options set on the command line: `--save`. */
  readonly given?: readonly string[];
  readonly callbackUrl?: string;
  readonly allowCallback?: readonly string[];
  /** Bytes. */
  readonly maxBody: number;
  /** Milliseconds. */
  readonly drain: number;
  readonly save?: string;
  readonly output: 'plain' | 'ndjson';
}

/** @throws ProtocolCliError `usage` if nothing would be recorded. */
export function requireOutput({ save, output }: RecordFlags): void {
  if (save === undefined && output !== 'ndjson')
    throw usageError('no output for the recording', 'Add --save <file>, or -o ndjson for stdout.');
  if (save === '-')
    throw usageError('--save needs a file name', '-o ndjson writes the transcript to stdout.');
}

interface RecordingOptions {
  /** Returns what is printed at the end; null if it never began. */
  readonly summary: (path: string) => string | null;
  /** Whether another file is written beside one that exists. */
  readonly isNumbered?: boolean;
}

/**
 * Writes the events of a recorder to its file, if it has one, from now on to the end of the run.
 * @returns what removes the secrets of all events so far
 * @throws ProtocolCliError `unwritable-file`, also if the file exists
 */
export async function startRecording(
  run: Run,
  { save, quiet }: RecordFlags,
  { summary, isNumbered = false }: RecordingOptions,
): Promise<EventRedactor> {
  const redactor = recordedSecrets();
  const onForcedEnd = run.stderr.write;
  const create = (name: string) => createTranscriptFile(name, redactor, run.about, { onForcedEnd });
  const [path, file] = await (isNumbered && save ? createNumbered(save, create) : createAt(save, create));
  run.onTranscriptEnd(async reason => {
    await file?.close(reason);
    const text = file && !quiet ? summary(path) : null;
    if (text !== null) run.stderr.write(`${text}\n`);
  });
  run.log.storeEventsIn({
    take(event) {
      redactor.learn(event); // must run before the event is written
      file?.take(event);
    },
    stored: async () => file?.stored(),
  });
  return redactor;
}

type Created = readonly [path: string, file: TranscriptFile | null];

type Create = (path: string) => Promise<TranscriptFile>;

async function createAt(path: string | undefined, create: Create): Promise<Created> {
  return path === undefined ? ['', null] : [path, await create(path)];
}

/** Creates `run.ndjson`, or `run-2.ndjson` and so on where that exists: clients start a server more than once, perhaps at the same time. */
async function createNumbered(path: string, create: Create): Promise<Created> {
  const { dir, name, ext } = parse(path);
  for (let number = 1; ; number++) {
    const own = number === 1 ? path : join(dir, `${name}-${number}${ext}`);
    if (await isTaken(own)) continue;
    try {
      return [own, await create(own)];
    } catch (error) {
      if (!(await isTaken(own))) throw error;
    }
  }
}

async function isTaken(path: string): Promise<boolean> {
  const there = await lstat(path).catch(() => null);
  return there !== null && !isEmptyFile(there);
}

/** Prints the messages from now on. */
export function printMessages(
  { log, about }: Pick<Run, 'log' | 'about'>,
  flags: RecordFlags,
  redactor: EventRedactor,
  terminal: Terminal,
): LiveOutput {
  return startLines(
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
}

/** `2 calls: 2 with a result. Next: protocol-cli check run.ndjson` */
export function summaryText(
  ends: CallEndCounts,
  next: 'check' | 'render',
  path: string,
  terminal: Terminal,
): string {
  const command = `protocol-cli ${next} ${shellWord(path, process.platform)}`;
  return `${callEndsText(ends)}. Next: ${withOwnCommand(command, terminal.env)}`;
}

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

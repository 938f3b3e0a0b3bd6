import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import type { Gap } from '../../check/conformance.js';
import { type Recording, recordingsOf } from '../../check/evidence.js';
import type { ProbeOptions } from '../../check/probes/probes.js';
import type { Event } from '../../events/events.js';
import type { EventRedactor } from '../../events/shareable.js';
import { missingFrom } from '../../events/transcript-reader.js';
import { verboseTeller } from '../../render/wire.js';
import { cameWithin } from '../../system/process.js';
import { credentialsIn, namedCredentialsIn } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { decodeUtf8 } from '../../util/text.js';
import { stringsIn } from '../../util/values.js';
import { visibleLine } from '../../util/visible.js';
import { reach } from '../rap-config.js';
import { readRecording } from '../read-recording.js';
import { readSource } from '../read-source.js';
import { asTrouble, type Run } from '../run.js';
import { wireSecrets } from '../save-files.js';
import { deathText, StartedServers } from '../started-server.js';
import { listenerOf, readCredentials, type ServerTarget } from '../target.js';
import type { Terminal } from '../terminal.js';
import type { CheckPlan } from './plan.js';

/** What there is to judge, from calls or from a file. */
export interface Witness {
  /** For the report: the URL or the file. */
  readonly target: string;
  /** The file for line numbers (default: the target). */
  readonly file?: string;
  readonly recordings: readonly Recording[];
  readonly gaps: readonly Gap[];
  readonly redactor: EventRedactor;
}

/**
 * Learns the secrets of a check from its events (threats, row 25): besides those of any recording, everything a tool sends that looks
 * like a credential (TOOL-SECRET, TOOL-OAUTH), unless the call itself has sent it.
 */
export function checkedSecrets(credentials: Redactor): EventRedactor {
  const secrets = wireSecrets(credentials);
  const sent = new Map<string | undefined, readonly string[]>();
  return {
    ...secrets,
    learn(event) {
      secrets.learn(event);
      const key = event.calls?.[0];
      const found = textsIn(event).flatMap(credentialsOf);
      if (event.kind === 'request' && event.purpose === 'invocation') sent.set(key, found);
      else for (const secret of found) if (!sent.get(key)?.includes(secret)) secrets.add(secret);
    },
  };
}

function credentialsOf(text: string): readonly string[] {
  const known = credentialsIn(text).map(found => found.text.replace(/^Bearer /, ''));
  return [...known, ...namedCredentialsIn(text)];
}

function textsIn(event: Event): readonly string[] {
  const body = 'body' in event ? event.body : undefined;
  if (!body) return [];
  return body.json.ok ? stringsIn(body.json.value) : [decodeUtf8(body.bytes) ?? ''];
}

/** Bytes of a transcript; errors of it that are shown; gaps in a report. */
const MOST = { bytes: 256 * 1024 * 1024, faults: 8, gaps: 50 };

/** A saved transcript; what of it is missing is a gap. @throws ProtocolCliError `unreadable-file`. */
export async function readWitness(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Witness> {
  const name = file === '-' ? 'standard input' : file;
  const bytes = await readSource(file, stdin, MOST.bytes);
  const transcript = readRecording(name, bytes);
  if (!transcript) {
    const isEmpty = decodeUtf8(bytes)?.trim() === '';
    const why = isEmpty ? 'it is empty' : 'it is not a transcript';
    throw new ProtocolCliError('unreadable-file', `cannot check ${name}: ${why}`, {
      hint: 'A transcript is written by --save, by -o ndjson and by record; a single message, or a report, can only be shown: protocol-cli render.',
    });
  }
  const { events, faults } = transcript;
  if (events.length === 0 && faults.length > 0)
    throw new ProtocolCliError('unreadable-file', `no line of ${name} could be read`, {
      faults: firstOf(faults, MOST.faults),
    });
  const redactor = checkedSecrets(createRedactor());
  for (const event of events) redactor.learn(event);
  const missing = firstOf([...faults, ...missingFrom(transcript)], MOST.gaps);
  const recordings = events.length === 0 ? [] : recordingsOf([transcript]);
  return { target: name, recordings, gaps: missing.map(fault => gapOf(name, fault)), redactor };
}

function firstOf(faults: readonly string[], most: number): readonly string[] {
  const more = faults.length - most;
  return more > 0 ? [...faults.slice(0, most), `and ${more} more`] : faults;
}

/** `line 7: not valid JSON` of a file. */
function gapOf(name: string, fault: string): Gap {
  const [, line, reason = fault] = /^line (\d+): (.*)$/s.exec(fault) ?? [];
  return { place: line === undefined ? name : `${name}:${line}`, reason };
}

/** Probes that were interrupted have this long to end, in ms. */
const LAST_WORDS_MS = 500;

const QUERY_UNSENT =
  'the query of the URL is not sent, and in no report: a base has none; credentials go in -H or --bearer';

/**
 * Calls a tool with all that the probes know, until the end or until the user stops it; then stops what was started.
 * @throws ProtocolCliError `unreachable`, `no-discovery` where there is nothing to check, `unwritable-file` of `--save`.
 */
export async function callTool(
  target: ServerTarget,
  plan: CheckPlan,
  run: Run,
  probes: (options: ProbeOptions) => Promise<void>,
): Promise<Witness> {
  const { log, redactor, interrupted } = run;
  const { save } = plan.flags;
  const events: Event[] = [];
  log.subscribe(event => void events.push(event));
  if (target.kind === 'url' && new URL(target.url).search !== '')
    log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const lines = new Map<number, number>();
  await run.save(save, (seq, line) => void lines.set(seq, line));
  const probing = probe(target, plan, run, probes);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await run.stop();
  await cameWithin(Promise.allSettled([probing]), LAST_WORDS_MS); // so that nothing happens after the end
  const isWhole = !run.signal.aborted;
  const ended = await run.end(trouble, isWhole ? undefined : 'interrupted');
  if (ended.trouble && isWhole) throw ended.trouble;
  const recording = { observer: 'runtime', events, isWhole } as const;
  return {
    target: await nameOf(target),
    ...(save !== undefined && { file: save }),
    recordings: [{ ...recording, ...(save !== undefined && { lines }) }],
    gaps: [],
    redactor,
  };
}

const MAX_CALLBACK = 64 * 1024 * 1024;

async function probe(
  target: ServerTarget,
  { flags, cases, selection: { only, skip } }: CheckPlan,
  { log, redactor, terminal, onStop, signal, clock, openClient }: Run,
  probes: (options: ProbeOptions) => Promise<void>,
): Promise<void> {
  const { verbose, quiet, operation: operations = [], probeTimeout: probeTimeoutMs } = flags;
  const progress = progressOn(terminal, quiet === true);
  onStop(async () => progress.end());
  if (verbose) log.subscribe(verboseTeller(redactor, progress.aside));
  const print = (text: string) => progress.aside(redactor.text(text));
  const url = await reach(target, {
    ...new StartedServers(log, () => [], verbose ? print : null).options,
    ...{ onStop, signal },
    onDeath: death => log.emit({ kind: 'warned', message: deathText(death) }),
  });
  const credentials = readCredentials(flags, url, terminal.env);
  await probes({
    ...{ url, operations, cases, probeTimeoutMs, clock, signal },
    wire: { client: openClient(true), log, credentials },
    listener: listenerOf({ ...flags, maxBody: MAX_CALLBACK }),
    wants: id => (only?.has(id) ?? true) && !skip?.has(id),
    onConsent: consent => progress.aside(`visit this URL to continue: ${visibleLine(consent)}\n`),
    onProgress: progress.update,
  });
  progress.end();
}

/** What a report calls a target; nothing of it is secret (threats, row 25). */
async function nameOf(target: ServerTarget): Promise<string> {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? programIn(target.command) : target.url.replace(/[?#].*$/s, '');
}

/** Words as a shell takes them, roughly: what is quoted is one. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;

/** The program and the files of a command, without their folders; its other words may hold a secret. */
async function programIn(command: string): Promise<string> {
  const words = command.match(WORD) ?? [];
  const start = words.findIndex(word => !/^\w+=/.test(word)); // after the variables
  const [program = '', ...rest] =
    start < 0 ? [] : words.slice(start).map(word => word.replaceAll(/["']/g, ''));
  const isFile = async (word: string) => (await stat(word).catch(() => null))?.isFile() === true;
  const files = await Promise.all(rest.map(async word => ((await isFile(word)) ? [word] : [])));
  const shown = files.flat().map(path => (isAbsolute(path) ? basename(path) : path));
  return ['--command', basename(program), ...shown].join(' ').trim();
}

const CLEAR = '\r\u001b[2K';

/** One line on a terminal that is overwritten, and gone at the end; `aside` prints text that stays. */
function progressOn({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>, isQuiet: boolean) {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && !isQuiet;
  let line = '';
  const draw = (text: string) => {
    if (isDrawn && text !== line) stderr.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    update: (done: number, total: number) => draw(`checking … ${done} of ${total}`),
    aside(text: string) {
      const shown = line;
      draw('');
      stderr.write(text);
      draw(shown);
    },
    end: () => draw(''),
  };
}

import type { Event } from '../../events/events.js';
import { createLog, type GroupKeeper, type Log } from '../../events/log.js';
import type { EventRedactor } from '../../events/shareable.js';
import { type TranscriptAbout, transcriptWriter } from '../../events/transcript-writer.js';
import { isWildcard } from '../../http/server.js';
import { PROTOCOL_WORDS } from '../../protocol/words.js';
import { createTranscriptFile, fieldsOf } from '../../record/forward.js';
import { type Recorder, startRecorder } from '../../record/recorder.js';
import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { quietPipes } from '../../system/streams.js';
import { keepHeapTight } from '../../system/watch-files.js';
import { isCredentialHeader } from '../../util/credentials.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor, type Redactor } from '../../util/redact.js';
import { BoundedLines, refuseToReplace, wireSecrets } from '../save-files.js';
import { secretsOf } from '../target.js';
import { type ExitStatus, type Interruption, interruption, PROGRAM, type Terminal } from '../terminal.js';
import { planRecord, type RecordFlags, type RecordPlan } from './plan.js';

/** Shorter ones may be anything, and header values are not written down anyway. */
const SHORTEST = 8;
const IDS = ['id', 'group_id', 'call_id', 'tool_call_id', 'thread_id', 'session_id'];

/**
 * What is secret in a recording, learned from its events (threats, row 25): besides what is on any wire, whatever either side sent as
 * a credential.
 */
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

/** Ids of the message itself are none: a recording without them tells of nothing. */
function credentialsIn(event: Event): string[] {
  if (event.kind !== 'request' && event.kind !== 'response') return [];
  const named = Object.entries(event.headers).filter(([name]) => isCredentialHeader(name));
  const told = named.length > 0 ? idsIn(event) : [];
  const isSecret = (value: string) => !told.includes(value) && !PROTOCOL_WORDS.has(value);
  return secretsOf(Object.fromEntries(named)).filter(value => value.length >= SHORTEST && isSecret(value));
}

function idsIn({ body, calls = [], thread }: Extract<Event, { kind: 'request' | 'response' }>): unknown[] {
  const fields = fieldsOf(body);
  return [...IDS.map(name => fields[name]), ...calls, thread];
}

interface TellingDesk {
  readonly plan: RecordPlan;
  readonly terminal: Terminal;
  readonly log: Log;
  readonly redactor: Redactor;
  readonly about: TranscriptAbout;
}

/** Says where the recorder is reached: for programs on stdout, for people where they look. */
function tellReady({ port, url }: Recorder, { plan, terminal: { stdout, stderr } }: TellingDesk): void {
  const { flags, recorder } = plan;
  if (stdout.isTTY === true) stderr.write(`recording ${recorder.url}: point the runtime at ${url}\n`);
  else stdout.write(`${JSON.stringify({ port, url })}\n`);
  if (isWildcard(flags.host))
    stderr.write(warningText({ message: `the recorder is open to the network (--host ${flags.host})` }));
}

/** Tells what happens while it does. Returns how to end it. */
async function startTelling(desk: TellingDesk): Promise<(reason: string) => void> {
  const { plan, terminal, log, redactor } = desk;
  if (plan.flags.output === 'ndjson') return events(desk);
  if (plan.flags.quiet) return () => {};
  const { recordedPlain } = await import('../../render/outputs/recorded-plain.js');
  const { stdout, stderr, env } = terminal;
  const stream = stdout.isTTY === true ? stdout : stderr;
  const level = colourLevel({ env, isTTY: stream.isTTY === true, noColor: !plan.flags.color });
  return log.subscribe(recordedPlain(stream, { level, redactor }));
}

/** Every event as it happens: the lines of a transcript. */
function events({ terminal: { stdout }, log, redactor, about }: TellingDesk): (reason: string) => void {
  const writer = transcriptWriter(redactor);
  let latest = { seq: 0, at: 0 };
  const why = 'whoever reads this is too slow for it';
  quietPipes(stdout);
  const lines = new BoundedLines(stdout, count =>
    writer.event({ kind: 'dropped', what: 'event', why, count, ...latest }),
  );
  lines.end(() => [writer.header(about)]);
  log.subscribe(event => {
    lines.write(() => writer.event(event));
    latest = { seq: event.seq, at: event.at };
  });
  return reason => lines.end(() => [writer.end(reason)]);
}

/**
 * `record`, from the flags to the exit status: to be stopped is its normal end.
 * @throws ProtocolCliError `usage` for a recording that is there already; also at the end, where something could not be written down.
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
  const interrupted = interruption();
  const file = plan.file === null ? null : await createTranscriptFile(plan.file, redactor, about);
  log.keep(learning(redactor, file));
  let [reason, hasBegun] = ['done', false];
  try {
    await record({ plan, terminal, log, redactor, about }, clock, interrupted, () => {
      hasBegun = true;
    });
  } catch (error) {
    reason = error instanceof ProtocolCliError ? error.code : 'failed';
    throw error;
  } finally {
    interrupted.release();
    await file?.close(reason);
    if (file && !hasBegun) await file.remove();
  }
  return 0;
}

/** What is secret is known before anything of it is written down. */
function learning(redactor: EventRedactor, file: GroupKeeper | null): GroupKeeper {
  return {
    take(event: Event) {
      redactor.learn(event);
      file?.take(event);
    },
    kept: async () => file?.kept(),
  };
}

async function record(
  desk: TellingDesk,
  clock: Clock,
  interrupted: Interruption,
  onBegun: () => void,
): Promise<void> {
  const { plan, log } = desk;
  await using recorder = await startRecorder(log, { ...plan.recorder, clock });
  onBegun();
  tellReady(recorder, desk);
  const endTelling = await startTelling(desk);
  void lookForTool(recorder, desk, interrupted);
  await untilStopped(desk, interrupted);
  await recorder.close();
  endTelling('done');
}

/** It may come up later: then the first who asks for it finds it. */
async function lookForTool(recorder: Recorder, { plan, terminal }: TellingDesk, { signal }: Interruption) {
  const isFound = await recorder.findTool();
  if (isFound || signal.aborted) return;
  terminal.stderr.write(warningText({ message: `there is no toolset at ${plan.recorder.url} yet` }));
}

/** By a signal; where what is told on stdout is all there is, also by a reader who goes away. */
function untilStopped({ plan, terminal: { stdout } }: TellingDesk, interrupted: Interruption): Promise<void> {
  return new Promise(resolve => {
    interrupted.onSignal(resolve);
    if (plan.file === null) stdout.once('error', () => resolve());
  });
}

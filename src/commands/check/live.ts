import { setMaxListeners } from 'node:events';
import { stat } from 'node:fs/promises';
import { basename, isAbsolute } from 'node:path';
import type { ProbeOptions } from '../../check/probes/run-probes.js';
import type { Event } from '../../events/events.js';
import { createLog, type Log } from '../../events/log.js';
import { lazyClient } from '../../http/client.js';
import type { RequirementId } from '../../protocol/requirements.js';
import type { Clock } from '../../system/drafts.js';
import { cameWithin } from '../../system/signals.js';
import { ProtocolCliError } from '../../util/errors.js';
import { createRedactor } from '../../util/redact.js';
import { visibleLine } from '../../util/visible.js';
import { reach } from '../rap-config.js';
import { checkedSecrets, saveTranscript, type Witness } from '../save-files.js';
import { deathText } from '../started-server.js';
import { readCredentials, readHeaders, type ServerTarget, secretsOf } from '../target.js';
import {
  type ExitStatus,
  type Interruption,
  interruption,
  type OnStop,
  PROGRAM,
  type Terminal,
} from '../terminal.js';
import type { CheckPlan } from './plan.js';

/** What a check was made with; a test gives other probes. */
export interface Making {
  readonly clock: Clock;
  readonly probes: (options: ProbeOptions) => Promise<void>;
}

/** What there is at hand while a tool is called. */
interface Desk {
  readonly plan: CheckPlan;
  readonly terminal: Terminal;
  readonly making: Making;
  readonly interrupted: Interruption;
  readonly onStop: OnStop;
}

/** Words as a shell takes them, roughly: what is quoted is one. */
const WORD = /(?:[^\s"']|"[^"]*"|'[^']*')+/g;
const ASSIGNMENT = /^\w+=/;

/**
 * A command for a report, which goes to others: its program and the files that it is given, which tell one run from another. The rest
 * may hold a secret (threats, row 25).
 */
export async function programIn(command: string, isFile = isThere): Promise<string> {
  const words = command.match(WORD) ?? [];
  const start = words.findIndex(word => !ASSIGNMENT.test(word));
  const [program = '', ...rest] = start < 0 ? [] : words.slice(start).map(unquoted);
  const files = await Promise.all(rest.map(async word => ((await isFile(word)) ? [shown(word)] : [])));
  return ['--command', basename(program), ...files.flat()].join(' ').trim();
}

function unquoted(word: string): string {
  return word.replaceAll(/["']/g, '');
}

/** The folder on this machine is private. */
function shown(path: string): string {
  return isAbsolute(path) ? basename(path) : path;
}

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    there => there.isFile(),
    () => false,
  );
}

const QUERY_UNSENT =
  'the query of the URL is not sent, and in no report: a base has none; credentials go in -H or --bearer';

/** What a report calls a target; nothing of it is secret (threats, row 25). */
async function nameOf(target: ServerTarget): Promise<string> {
  if (target.kind === 'demo') return 'the bundled demo';
  return target.kind === 'command' ? programIn(target.command) : target.url.replace(/[?#].*$/s, '');
}

function hasQuery(target: ServerTarget): boolean {
  return target.kind === 'url' && new URL(target.url).search !== '';
}

/** It may hold a key. */
function secretsOfQuery(target: ServerTarget): string[] {
  return target.kind === 'url' ? [...new URL(target.url).searchParams.values()] : [];
}

/** One line on a terminal that is written over and over, and gone at the end; nothing anywhere else. */
interface Progress {
  update(done: number, total: number): void;
  /** For what is to stay: the line makes room for it. */
  aside(text: string): void;
  end(): void;
}

const CLEAR = '\r\u001b[2K';

export function progressOn({ stderr, env }: Pick<Terminal, 'stderr' | 'env'>, isQuiet: boolean): Progress {
  const isDrawn = stderr.isTTY === true && env['TERM'] !== 'dumb' && !isQuiet;
  let line = '';
  const draw = (text: string) => {
    if (isDrawn && text !== line) stderr.write(`${CLEAR}${text}`);
    line = text;
  };
  return {
    update: (done, total) => draw(`checking … ${done} of ${total}`),
    aside(text) {
      const shown = line;
      draw('');
      stderr.write(text);
      draw(shown);
    },
    end: () => draw(''),
  };
}

const MAX_CALLBACK = 64 * 1024 * 1024;

/** Reaches a tool, and calls it with all that the probes know. @throws what the probes throw, or whoever starts the tool. */
async function probe(target: ServerTarget, log: Log, desk: Desk): Promise<void> {
  const { plan, terminal, making, interrupted, onStop } = desk;
  const url = await reach(target, {
    onStop,
    signal: interrupted.signal,
    onDeath: death => log.emit({ kind: 'warned', message: deathText(death) }),
  });
  const client = lazyClient(async () => (await import('../../http/pooled-client.js')).createAgentClient());
  onStop(() => client.close());
  const progress = progressOn(terminal, plan.flags.quiet === true);
  onStop(async () => progress.end());
  await making.probes({
    ...choicesOf(plan),
    wire: { client, log, credentials: readCredentials(plan.flags, url, terminal.env) },
    clock: making.clock,
    url,
    onConsent: consent => progress.aside(`visit this URL to continue: ${visibleLine(consent)}\n`),
    onProgress: (done, total) => progress.update(done, total),
    signal: interrupted.signal,
  });
  progress.end();
}

/** What the command line says of the probes. */
function choicesOf({ flags, cases, selection: { only, skip } }: CheckPlan) {
  const {
    callbackHost: host,
    callbackPort,
    callbackUrl,
    allowHost = [],
    operation = [],
    probeTimeout,
  } = flags;
  const publicUrl = callbackUrl === undefined ? {} : { publicUrl: callbackUrl };
  return {
    listener: { host, port: callbackPort, allowedHosts: allowHost, maxBody: MAX_CALLBACK, ...publicUrl },
    operations: operation,
    cases,
    wants: (id: RequirementId) => (only?.has(id) ?? true) && !skip?.has(id),
    probeTimeoutMs: probeTimeout,
  };
}

/** What is written down, where that is wanted: the line of each event, and how to end it, with the reason. */
interface Saved extends Pick<Witness, 'file'> {
  readonly lines?: ReadonlyMap<number, number>;
  readonly finish: (reason: string) => Promise<void>;
}

/** Writes down what happens from now on. */
async function savingTo(
  log: Log,
  redactor: Witness['redactor'],
  { plan, making, terminal: { stderr } }: Desk,
): Promise<Saved> {
  const { save } = plan.flags;
  if (save === undefined) return { finish: async () => {} };
  const about = {
    startedAt: making.clock.wall().toISOString(),
    observer: 'runtime',
    program: PROGRAM,
  } as const;
  const lines = new Map<number, number>();
  const onLine = (seq: number, line: number) => void lines.set(seq, line);
  return { file: save, lines, finish: await saveTranscript(log, save, redactor, about, { stderr, onLine }) };
}

/** What was started, and is to be stopped. */
interface Stops {
  readonly onStop: OnStop;
  /** What was started last first; nothing twice, and whatever fails is no reason to leave the others running. */
  stopAll(): Promise<unknown>;
}

function openStops(): Stops {
  const stops: (() => Promise<void>)[] = [];
  const lastFirst = () => stops.splice(0).reverse();
  return {
    onStop: stop => stops.push(stop),
    stopAll: () => Promise.allSettled(lastFirst().map(stop => stop())),
  };
}

/** Events of a tool, until the end or until the user stopped the check. */
interface LiveWitness extends Witness {
  /** Of the signal that came before the end; undefined where none did. */
  readonly interrupted: ExitStatus | undefined;
}

/** What is called off has this long to say how it ended. */
const LAST_WORDS_MS = 500;

/**
 * Calls a tool with all that the probes know, and keeps what happened. What was started is stopped, however it ends.
 * @throws ProtocolCliError `unreachable`, `no-discovery` where there is nothing to check, and whatever `--save` meets.
 */
export async function watchTool(
  target: ServerTarget,
  plan: CheckPlan,
  terminal: Terminal,
  making: Making,
): Promise<LiveWitness> {
  const interrupted = interruption();
  setMaxListeners(0, interrupted.signal); // every probe listens to it
  const { onStop, stopAll } = openStops();
  try {
    return await watch(target, { plan, terminal, making, interrupted, onStop }, stopAll);
  } finally {
    await stopAll();
    interrupted.release();
  }
}

async function watch(
  target: ServerTarget,
  desk: Desk,
  stopAll: () => Promise<unknown>,
): Promise<LiveWitness> {
  const { interrupted } = desk;
  const { log, events, redactor } = keeping(target, desk);
  if (hasQuery(target)) log.emit({ kind: 'warned', message: QUERY_UNSENT });
  const { finish, file, lines } = await savingTo(log, redactor, desk);
  const probing = probe(target, log, desk);
  const trouble = await interrupted.race(probing).then(() => null, asTrouble);
  await stopAll();
  await cameWithin(Promise.allSettled([probing]), LAST_WORDS_MS); // so that nothing happens after the end
  const status = interrupted.signalStatus();
  await finish(status === undefined ? (trouble?.code ?? 'done') : 'interrupted');
  if (trouble && status === undefined) throw trouble;
  const recording = {
    observer: 'runtime',
    events,
    isWhole: status === undefined,
    ...(lines && { lines }),
  } as const;
  return {
    target: await nameOf(target),
    ...(file !== undefined && { file }),
    recordings: [recording],
    gaps: [],
    redactor,
    interrupted: status,
  };
}

/** A log of which all is kept, and what is secret in it is learned (threats, row 25). */
function keeping(target: ServerTarget, { plan, terminal, making }: Desk) {
  const headers = readHeaders(plan.flags, terminal.env);
  const redactor = checkedSecrets(createRedactor([...secretsOf(headers), ...secretsOfQuery(target)]));
  const log = createLog(() => making.clock.now());
  const events: Event[] = [];
  log.subscribe(event => {
    redactor.learn(event);
    events.push(event);
  });
  return { log, events, redactor };
}

function asTrouble(error: unknown): ProtocolCliError {
  if (error instanceof ProtocolCliError) return error;
  throw error;
}

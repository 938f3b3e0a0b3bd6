import { setMaxListeners } from 'node:events';
import { rmSync } from 'node:fs';
import { type FileHandle, mkdtemp, open, readdir, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Content } from '../../events/content.js';
import type { Event, RequestEvent } from '../../events/events.js';
import { renumbered } from '../../events/history.js';
import { createLog, type Log } from '../../events/log.js';
import { consentSecrets } from '../../events/shareable.js';
import type { Finding } from '../../protocol/driver.js';
import { reasonOf } from '../../system/files.js';
import { beforeForcedEnd } from '../../system/process.js';
import type { Sink } from '../../system/streams.js';
import { forEachConcurrently } from '../../util/collections.js';
import { ProtocolCliError } from '../../util/errors.js';
import { LIMITS } from '../../util/limits.js';
import { REDACTED } from '../../util/redact.js';
import { excerpt, joinFirst, truncateBeforeToken } from '../../util/text.js';
import { isRecord, valueAt } from '../../util/values.js';
import type { Recording } from '../evidence.js';
import { playScenario, type Scenario, type ScenarioSetting } from './scenario.js';
import { callScenarios } from './scenarios/calls.js';
import { questionScenarios } from './scenarios/questions.js';
import { resultScenarios } from './scenarios/results.js';

/** All scenarios; the first runs alone, so it is an ordinary call. */
export const SCENARIOS: readonly Scenario[] = [...resultScenarios, ...callScenarios, ...questionScenarios];

/** Sees a scenario from outside. */
interface ScenarioObserver {
  /** Called with the stderr of the driver. */
  readonly onStderr?: Sink;
  /** Called after the scenario, before its recording ends. */
  readonly end: () => Promise<void> | void;
}

export interface ScenarioOptions
  extends Pick<ScenarioSetting, 'open' | 'clock' | 'windowMs' | 'signal' | 'onSilence'> {
  /** How many scenarios run at the same time; default: 4. */
  readonly atOnce?: number;
  /** Whether the scenarios ran before: then a runtime that does nothing is a fault, not an error. */
  readonly isRepetition?: boolean;
  /** The runtime's own log. Its lines name no scenario, so those of scenarios that run at the same time are read too. */
  readonly logPath?: string | undefined;
  /** Called with the log of each scenario before it begins. */
  readonly onStart?: (scenario: Scenario, log: Log) => Promise<ScenarioObserver> | ScenarioObserver;
  /** Called before and after each scenario, with its name. */
  readonly onProgress?: (done: number, total: number, scenario: string) => void;
  /** Called with a warning that is not about one scenario. */
  readonly onWarning?: (message: string) => void;
}

/** A scenario spends most of its time waiting for the runtime. */
const AT_ONCE = 4;

/**
 * Runs each scenario against a runtime that is started anew; the first one alone, since it shows whether the driver works. The rules
 * judge the recordings afterwards.
 * @throws ProtocolCliError `command-failed` if the driver does nothing in the first scenario, and errors of the options
 */
export async function runScenarios(
  scenarios: readonly Scenario[],
  options: ScenarioOptions,
): Promise<readonly Recording[]> {
  const { clock, atOnce = AT_ONCE, isRepetition = false, onProgress } = options;
  const failed = new AbortController();
  const signal = AbortSignal.any([options.signal, failed.signal]);
  setMaxListeners(0, signal); // each scenario listens
  const start = clock.now();
  const found = new Map<Scenario, readonly Event[]>();
  const folder = await temporaryFolder();
  const forget = beforeForcedEnd(() => rmSync(folder, { recursive: true, force: true }));
  let failure: unknown;
  const reportProgress = ({ name }: Scenario) => onProgress?.(found.size, scenarios.length, name);
  const run = async (scenario: Scenario) => {
    if (signal.aborted) return;
    reportProgress(scenario);
    const from = clock.now() - start;
    try {
      const mustAct = scenario === scenarios[0] && !isRepetition;
      const events = await runScenario(scenario, { ...options, signal }, mustAct, folder);
      if (signal.aborted) return; // the interruption looks like a fault of the runtime
      found.set(
        scenario,
        events.map(event => ({ ...event, at: event.at + from })),
      );
      reportProgress(scenario);
    } catch (error) {
      failure ??= error;
      failed.abort();
    }
  };
  const alone = isRepetition ? 0 : 1;
  await forEachConcurrently(scenarios.slice(0, alone), 1, run);
  await forEachConcurrently(scenarios.slice(alone), atOnce, run);
  await stopLeftovers(folder, options);
  await rm(folder, { recursive: true, force: true });
  forget();
  if (failed.signal.aborted) throw failure;
  const played = scenarios.map(scenario => found.get(scenario)).filter(events => events !== undefined);
  return renumbered(played).map(events => ({ observer: 'tool', events }));
}

/** @throws ProtocolCliError `unwritable-file` */
async function temporaryFolder(): Promise<string> {
  const parent = resolve(tmpdir()); // `TMPDIR` may be relative
  try {
    return await mkdtemp(join(parent, 'protocol-cli-'));
  } catch (cause) {
    const message = `cannot create a temporary folder in ${parent}: ${reasonOf(cause)}`;
    const hint = 'Set TMPDIR to an existing folder that you may write to.';
    throw new ProtocolCliError('unwritable-file', message, { hint, cause });
  }
}

/** Stops the processes of drivers that left their process group: they have a path of ours in their environment. */
async function stopLeftovers(folder: string, { onWarning }: ScenarioOptions): Promise<void> {
  const programs = await killProcessesWith('RAP_CONFIG', folder);
  if (programs.length === 0) return;
  const names = excerpt(joinFirst([...new Set(programs)], MAX_PROGRAMS));
  onWarning?.(`the runtime left processes running; they were stopped: ${names}`);
}

const MAX_PROGRAMS = 5;

/** Passes over the processes, and the pause between two, in ms: one may start another meanwhile, and takes a moment to end. */
const [PASSES, PAUSE_MS] = [50, 10];

/**
 * Kills the processes that have this variable in their environment, such as those of a command that left its process group. Works
 * where `/proc` lists the processes. Returns the names of their programs.
 * @param start what the value of the variable begins with
 */
export async function killProcessesWith(name: string, start: string): Promise<readonly string[]> {
  const killed = new Map<number, string>();
  for (let pass = 0; pass < PASSES; pass++) {
    const found = await processesWith(`${name}=${start}`);
    if (found.length === 0) break;
    for (const pid of found) {
      if (!killed.has(pid)) killed.set(pid, await programOf(pid));
      kill(pid);
    }
    await sleep(PAUSE_MS);
  }
  return [...killed.values()];
}

async function programOf(pid: number): Promise<string> {
  const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
  const [program = ''] = line.split('\0'); // arguments may contain secrets
  return basename(program) || `process ${pid}`;
}

async function processesWith(variable: string): Promise<readonly number[]> {
  const names = await readdir('/proc').catch(() => []);
  const pids = names.map(Number).filter(pid => pid > 1 && pid !== process.pid);
  const has = async (pid: number) => {
    const environment = await readFile(`/proc/${pid}/environ`, 'latin1').catch(() => ''); // empty for an ended process
    return environment.split('\0').some(each => each.startsWith(variable));
  };
  const found = await Promise.all(pids.map(async pid => ((await has(pid)) ? [pid] : [])));
  return found.flat();
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // it has ended
  }
}

async function runScenario(
  scenario: Scenario,
  { logPath, onStart, ...options }: ScenarioOptions,
  mustAct: boolean,
  parent: string,
): Promise<readonly Event[]> {
  const log = createLog(options.clock.now, options.clock.runnable);
  const events: Event[] = [];
  log.subscribe(event => void events.push(event));
  const { end, ...observer } = (await onStart?.(scenario, log)) ?? {};
  const findings = await findingsSince(logPath); // each scenario reads from its own start
  try {
    const folder = await mkdtemp(join(parent, 'scenario-'));
    const env: ScenarioSetting['env'] = logPath === undefined ? {} : { LOG: resolve(logPath) };
    await playScenario(scenario, { ...options, ...observer, env, folder, log }, mustAct);
    const { findings: found, warning } = await findings(events);
    if (warning !== undefined) log.emit({ kind: 'warned', message: `--log: ${warning}` });
    for (const finding of found) log.emit({ kind: 'driver', from: 'check', body: Content.ofJson(finding) });
  } finally {
    await end?.();
  }
  return events;
}

interface Findings {
  readonly findings: readonly Finding[];
  /** Why the log was not read, or only in part. */
  readonly warning?: string;
}

/** How many bytes at the end of a log are compared later, to detect that the runtime truncated it. */
const TAIL = 256;

const NOTHING = Buffer.alloc(0);

/**
 * Remembers where the runtime's own log ends. Returns a function that finds, after a scenario, leaked secrets, and what the log contains
 * since then of the calls and of discarded results. Without a log, it finds only what the model got.
 */
export async function findingsSince(
  path: string | undefined,
): Promise<(events: readonly Event[]) => Promise<Findings>> {
  if (path === undefined) return async events => ({ findings: leaksIn(events) });
  const readTail = async (file: FileHandle, size: number) => {
    const length = Math.min(size, TAIL);
    return { start: size, tail: await bytesOf(file, size - length, length) };
  };
  const { start, tail } = (await withFile(path, readTail)) ?? { start: 0, tail: NOTHING };
  const readAdded = async (file: FileHandle, size: number) => {
    const isSame = tail.equals(await bytesOf(file, start - tail.length, tail.length));
    const from = isSame ? start : 0;
    const bytes = await bytesOf(file, from, Math.min(size - from, LIMITS.runtimeLogBytes.value));
    return { text: bytes.toString('utf8'), isWhole: isSame && from + bytes.length === size };
  };
  return async events => {
    const part = await withFile(path, readAdded);
    if (!part) {
      const warning = `cannot read ${path}: it was not written, or is not a file that may be read`;
      // A runtime that writes no log names no operation in it.
      return { findings: [...leaksIn(events), { saw: 'log', operations: [], isWhole: true }], warning };
    }
    const findings = [
      ...leaksIn(events, part.text),
      { saw: 'log', ...auditOf(events, part.text), isWhole: part.isWhole } as const,
    ];
    if (part.isWhole) return { findings };
    const warning = `only a part of ${path} was read: it is too long, or the runtime began it anew`;
    return { findings, warning };
  };
}

/** Opens the file; null unless it is a regular one: reading a pipe could wait forever. */
async function withFile<Result>(
  path: string,
  work: (file: FileHandle, size: number) => Promise<Result>,
): Promise<Result | null> {
  const there = await stat(path).catch(() => null);
  const file = there?.isFile() ? await open(path).catch(() => null) : null;
  if (!there || !file) return null;
  try {
    return await work(file, there.size);
  } finally {
    await file.close();
  }
}

async function bytesOf(file: FileHandle, from: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
  return buffer.subarray(0, bytesRead);
}

/** Maximum number of leaks reported per place, and maximum length of their texts in characters. */
const MAX_LEAKS = 3;
const MAX_LEAK = 300;

function leaksIn(events: readonly Event[], log = ''): readonly Finding[] {
  const secrets = [...new Set(events.flatMap(consentSecrets))];
  if (secrets.length === 0) return [];
  const places = [
    ['model', textsFor('model', events)],
    ['failure', textsFor('failure', events)],
    ['log', log.split('\n')],
  ] as const;
  return places.flatMap(([where, texts]) =>
    texts
      .filter(text => secrets.some(secret => text.includes(secret)))
      .slice(0, MAX_LEAKS)
      .map(text => {
        const safe = secrets.reduce((rest, secret) => rest.replaceAll(secret, REDACTED), text);
        return { saw: 'leak', where, text: truncateBeforeToken(safe, MAX_LEAK) } as const;
      }),
  );
}

function textsFor(who: 'model' | 'failure', events: readonly Event[]): readonly string[] {
  return events.flatMap(event => {
    if (event.kind !== 'driver' || !event.body?.json.ok || valueAt(event.body.json.value, 'saw') !== who)
      return [];
    return String(valueAt(event.body.json.value, 'text'));
  });
}

/** A date, a time of day, or the seconds, milliseconds, microseconds or nanoseconds since 1970. */
const TIME = /(?<![\d.])\d{1,2}:\d{2}|\d{4}-\d{2}-\d{2}|(?<!\d)1[5-9]\d{8}(?:\d{3}){0,3}(?!\d)/;

/** A word or a status that says how a call ended. */
const OUTCOME =
  /result|outcome|status|success|succe|complet|done|finish|answer|fail|error|cancel|refus|reject|den(?:y|ied)|time(?:d )?-?out|\bok\b|\b[2-5]\d\d\b/i;

/** Words for a result that matches no pending call. */
const DISCARDED =
  /discard|match|ignor|drop|refus|reject|unexpected|orphan|stray|\b404\b|(?:unknown|no such|no pending|invalid) (?:call|id|thread|group|result|tool_result)/i;

/** An entry of a log may have several lines: this many around the name of an operation belong to it. */
const ENTRY_LINES = 3;

/** What the log contains of the calls, and of the results that match no call. */
function auditOf(events: readonly Event[], log: string) {
  const lines = log.split('\n');
  const invocations = invocationsIn(events);
  const places = new Map(
    namesOf(invocations).map(name => [
      name,
      lines.flatMap((line, index) => (hasWord(line, name) ? [index] : [])),
    ]),
  );
  const placesOf = (name: string) => places.get(name) ?? [];
  const operations = [...places.keys()].filter(name => placesOf(name).length > 0);
  const isNear = (pattern: RegExp, name: string) =>
    placesOf(name).some(index =>
      lines
        .slice(Math.max(0, index - ENTRY_LINES), index + 1 + ENTRY_LINES)
        .some(line => pattern.test(line.replaceAll(name, ''))),
    );
  const ended = namesOf(invocations.filter(call => hasResult(call, events)));
  return {
    operations,
    untimed: operations.filter(name => !isNear(TIME, name)),
    // Two entries are a beginning and an end, in any words.
    unended: operations.filter(
      name => ended.includes(name) && placesOf(name).length < 2 && !isNear(OUTCOME, name),
    ),
    undiscarded: DISCARDED.test(log)
      ? []
      : unknownResultsIn(events)
          .filter(({ unknown }) => !hasWord(log, unknown))
          .map(({ group_id, id }) => `${group_id}/${id}`),
  };
}

type Message = Readonly<Record<string, unknown>>;

function messagesIn(events: readonly Event[], purpose: RequestEvent['purpose']): readonly Message[] {
  return events.flatMap(event => {
    if (event.kind !== 'request' || event.purpose !== purpose || !event.body?.json.ok) return [];
    return isRecord(event.body.json.value) ? [event.body.json.value] : [];
  });
}

const invocationsIn = (events: readonly Event[]) => messagesIn(events, 'invocation');

function namesOf(invocations: readonly Message[]): readonly string[] {
  return [
    ...new Set(invocations.flatMap(({ operation }) => (typeof operation === 'string' ? [operation] : []))),
  ];
}

const resultsIn = (events: readonly Event[]) =>
  messagesIn(events, 'callback').filter(({ type }) => type === 'tool_result');

function hasResult({ id, group_id }: Message, events: readonly Event[]): boolean {
  return resultsIn(events).some(result => result['id'] === id && result['group_id'] === group_id);
}

/** A result that names a call which the runtime did not make, with the part of its name that is unknown. */
interface UnknownResult {
  readonly group_id: string;
  readonly id: string;
  readonly unknown: string;
}

function unknownResultsIn(events: readonly Event[]): readonly UnknownResult[] {
  const invocations = invocationsIn(events);
  return resultsIn(events).flatMap(({ group_id, id }) => {
    if (typeof group_id !== 'string' || typeof id !== 'string') return [];
    if (!invocations.some(each => each['group_id'] === group_id))
      return [{ group_id, id, unknown: group_id }];
    return invocations.some(each => each['id'] === id) ? [] : [{ group_id, id, unknown: id }];
  });
}

/** Whether a text contains a word, not only as a part of a longer one. */
function hasWord(text: string, word: string): boolean {
  if (word === '') return false;
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1))
    if (!isInWord(text[at - 1]) && !isInWord(text[at + word.length])) return true;
  return false;
}

function isInWord(character = ' '): boolean {
  return /[\w-]/.test(character);
}

import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { type Clock, systemClock } from '../../system/drafts.js';
import { keepHeapTight, keepNewspaceSmall, type Watching } from '../../system/watch-files.js';
import type { WorkbenchOptions } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { IDLE_OPTIONS, refuseIdle } from '../invoke/idle-options.js';
import {
  type Gathered,
  gatherArguments,
  type InvokeOptions,
  listenerOf,
  noOperation,
} from '../invoke/plan.js';
import { loadPolicy } from '../invoke/questions.js';
import { readRapConfig } from '../rap-config.js';
import { saveTranscript } from '../save-files.js';
import { type ConfiguredTarget, readHeaders, readTarget } from '../target.js';
import { canDraw, type ExitStatus, interruption, type Terminal } from '../terminal.js';
import { createEngine, type Engine } from './actions.js';
import type { Manners } from './servers.js';

/** What a workbench opens with. */
interface WorkbenchPlan {
  readonly options: Pick<InvokeOptions, 'supports' | 'color' | 'save' | 'watch' | 'open'>;
  readonly manners: Manners;
  /** For the target, and no other server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: those that are configured are offered. */
  readonly target: ConfiguredTarget | null;
  readonly configured: readonly ConfiguredTarget[];
  readonly operation: string | undefined;
  /** Undefined where none was given: the form has its defaults. */
  readonly arguments: Gathered | undefined;
}

/** @throws ProtocolCliError `usage`, or `unreadable-file` for what the words or options name. */
export async function planWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<WorkbenchPlan> {
  const { target, rest } = readTarget(words, options);
  const [operation, ...given] = rest;
  if (operation === '' || operation?.includes('=')) throw noOperation(operation);
  if (target?.kind === 'endpoint') throw new Error('--endpoint is refused before');
  const headers = readHeaders(options, terminal.env);
  if (target === null && Object.keys(headers).length > 0) throw headersForNobody();
  return {
    options,
    manners: await mannersOf(options, terminal),
    headers,
    target,
    configured: target ? [] : await configuredIn(terminal),
    operation,
    arguments: await givenArguments(given, options.args),
  };
}

async function givenArguments(words: readonly string[], whole?: string): Promise<Gathered | undefined> {
  if (words.length === 0 && whole === undefined) return undefined;
  return gatherArguments({ words, ...(whole !== undefined && { whole }) }, keyboard());
}

async function mannersOf(options: InvokeOptions, terminal: Terminal): Promise<Manners> {
  const { timeout: timeoutMs, retries, lenientAck = false, yes = false, policy: file } = options;
  const { groupId = null, userId = null, ancestor: ancestors = [] } = options;
  const policy = file === undefined ? null : await loadPolicy(file, terminal);
  const consent = { policy, yes };
  return {
    ...{ timeoutMs, retries, lenientAck, consent, groupId, userId, ancestors },
    listener: listenerOf(options),
  };
}

/** An empty list is not an error: the user can open a server. */
async function configuredIn(terminal: Terminal): Promise<readonly ConfiguredTarget[]> {
  try {
    const { targets, warnings } = await readRapConfig(terminal);
    for (const warning of warnings) terminal.stderr.write(warningText(warning));
    return targets;
  } catch (error) {
    if (error instanceof ProtocolCliError && error.code === 'usage') return [];
    throw error;
  }
}

/** Whoever draws on the terminal needs its keys. */
// biome-ignore lint/correctness/useYield: it has nothing to give
async function* keyboard(): AsyncGenerator<Uint8Array> {
  throw new Error('standard input is the keyboard here');
}

function headersForNobody(): ProtocolCliError {
  return new ProtocolCliError('usage', '-H and --bearer need a server', {
    hint: 'Give its URL: protocol-cli invoke -i <url> --bearer <token>.',
  });
}

/** Draws until it is closed. */
export type Draw = (options: WorkbenchOptions) => { close(): Promise<void> };

/**
 * The workbench, until a person quits or a signal comes: then the screen is as it was, tools are taken leave of, and what was started
 * is stopped.
 */
export async function runWorkbench(
  plan: WorkbenchPlan,
  terminal: Terminal,
  { clock = systemClock, load = loadScreen }: { clock?: Clock; load?: () => Promise<Draw> } = {},
): Promise<ExitStatus> {
  const interrupted = interruption();
  const { manners, headers } = plan;
  let finish = () => {};
  const over = new Promise<void>(resolve => {
    finish = resolve;
  });
  interrupted.onSignal(finish);
  const engine = createEngine({ terminal, clock, manners, headers, onQuit: finish });
  let keep: Keep = async () => {};
  let reason = 'failed';
  let watching: Watching | null = null;
  try {
    keep = await keeping(plan, engine, terminal);
    const draw = await load();
    const start = opened(plan, engine);
    const { server } = start;
    if (plan.options.watch && server !== undefined)
      watching = await watchServer(plan, terminal, () => engine.restart(server));
    const screen = draw({ ...optionsFor(plan, engine, terminal), start, clock }); // draws the first frame at once
    await over.finally(() => screen.close());
    reason = interrupted.signal.aborted ? 'interrupted' : 'done';
    if (reason === 'done') tellUnsaved(plan, engine, terminal);
  } finally {
    watching?.close();
    await engine
      .close()
      .finally(() => keep(reason))
      .finally(interrupted.release);
  }
  return interrupted.signalStatus() ?? 0;
}

async function watchServer(
  { target }: WorkbenchPlan,
  { cwd }: Terminal,
  onChange: () => void,
): Promise<Watching> {
  const { watchCommand } = await import('../watch-command.js');
  return watchCommand(target?.kind === 'command' ? target.command : undefined, cwd, onChange);
}

async function loadScreen(): Promise<Draw> {
  return (await import('../../tui/workbench/screen.js')).workbenchScreen;
}

/** Puts the transcript in its place, or nothing there. */
type Keep = (reason: string) => Promise<void>;

async function keeping(
  { options: { save } }: WorkbenchPlan,
  { log, redactor, about }: Engine,
  terminal: Terminal,
): Promise<Keep> {
  return save === undefined ? async () => {} : saveTranscript(log, save, redactor, about, terminal);
}

/** Whoever quits learns that nothing of what they did is kept, and how it would be. */
function tellUnsaved({ options: { save } }: WorkbenchPlan, { unsaved }: Engine, { stderr }: Terminal): void {
  const count = save === undefined ? unsaved() : 0;
  if (count === 0) return;
  const calls = `${count} call${count === 1 ? ' is' : 's are'} in no transcript`;
  stderr.write(`${calls}: next time press S, or give --save <file>.\n`);
}

/** Opens the server that is named, offers those that are configured, and says where to begin. */
function opened(
  { options: { open: transcript }, target, configured, operation, arguments: args }: WorkbenchPlan,
  engine: Engine,
): WorkbenchOptions['start'] {
  const server = target ? { server: engine.open(target) } : {};
  engine.offer(configured);
  const file = transcript === undefined ? {} : { transcript };
  return {
    ...server,
    ...file,
    ...(operation !== undefined && { operation, ...(args && { arguments: args }) }),
  };
}

function optionsFor(
  { options }: WorkbenchPlan,
  { world, controls, subscribe, log }: Engine,
  { stdin, stdout, env }: Terminal,
): Omit<WorkbenchOptions, 'start' | 'clock'> {
  const level = colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !options.color });
  const { supports } = options;
  return {
    ...{ world, controls, level, supports, subscribe, stdin, stdout },
    onEvent: log.subscribe,
  };
}

/** `invoke --interactive`, and `protocol-cli` alone. @throws ProtocolCliError `usage` where nothing can be drawn. */
export async function startWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  refuseIdle('--interactive', options.told ?? [], IDLE_OPTIONS);
  if (!canDraw(terminal))
    throw new ProtocolCliError('usage', `the workbench ${NEEDS}`, {
      hint: 'protocol-cli invoke <url> <operation> needs no terminal; see protocol-cli --help.',
    });
  keepHeapTight(GROWTH);
  keepNewspaceSmall();
  return runWorkbench(await planWorkbench(words, options, terminal), terminal);
}

/** In percent: all calls of a session are kept, and hardly anything that frames are made of. */
const GROWTH = 40;
const NEEDS = 'needs a terminal of at least 40×8 on stdin and stdout, outside CI';

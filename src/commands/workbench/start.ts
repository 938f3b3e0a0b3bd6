import { warningText } from '../../render/outputs/trouble.js';
import { colourLevel } from '../../render/terminal/colour-level.js';
import { systemClock } from '../../system/clock.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/process.js';
import type { WorkbenchOptions } from '../../tui/workbench/model.js';
import { ProtocolCliError } from '../../util/errors.js';
import { type Gathered, gatherArguments } from '../invoke/arguments.js';
import { refuseIdle } from '../invoke/idle-options.js';
import { type InvokeOptions, noOperation } from '../invoke/plan.js';
import { loadPolicy } from '../invoke/questions.js';
import { readRapConfig } from '../rap-config.js';
import { saveTranscript } from '../save-files.js';
import { type ConfiguredTarget, listenerOf, readHeaders, readTarget } from '../target.js';
import { canDraw, type ExitStatus, interruption, type Terminal } from '../terminal.js';
import type { CallDefaults } from './calls.js';
import { createEngine } from './engine.js';

/** In percent. Calls of a session are kept, and frames are made of little else: the heap need not grow much at a time. */
const HEAP_GROWTH = 40;

/** `invoke --interactive`, and `protocol-cli` alone. @throws ProtocolCliError `usage` where nothing can be drawn. */
export async function startWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  refuseIdle('--interactive', options.given);
  if (!canDraw(terminal))
    throw new ProtocolCliError(
      'usage',
      'the workbench needs a terminal of at least 40×8 on stdin and stdout, outside CI',
      { hint: 'protocol-cli invoke <url> <operation> needs no terminal; see protocol-cli --help.' },
    );
  keepHeapTight(HEAP_GROWTH);
  keepNewspaceSmall();
  return runWorkbench(await planWorkbench(words, options, terminal), terminal);
}

interface WorkbenchPlan {
  readonly options: Pick<InvokeOptions, 'supports' | 'color' | 'save' | 'watch' | 'open'>;
  readonly defaults: CallDefaults;
  /** For the target, and no other server. */
  readonly headers: Readonly<Record<string, string>>;
  /** Null: the configured servers are offered. */
  readonly target: ConfiguredTarget | null;
  readonly configured: readonly ConfiguredTarget[];
  readonly operation: string | undefined;
  /** Undefined: the form has its defaults. */
  readonly arguments: Gathered | undefined;
}

/** @throws ProtocolCliError `usage`, or `unreadable-file` for a file that a word or an option names. */
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
  if (target === null && Object.keys(headers).length > 0)
    throw new ProtocolCliError('usage', '-H and --bearer need a server', {
      hint: 'Give its URL: protocol-cli invoke -i <url> --bearer <token>.',
    });
  const { timeout: timeoutMs, retries, lenientAck = false, yes = false, policy: file, args } = options;
  const { groupId = null, userId = null, ancestor: ancestors = [] } = options;
  const consent = { policy: file === undefined ? null : await loadPolicy(file, terminal), yes };
  const listener = listenerOf(options);
  const hasArguments = given.length > 0 || args !== undefined;
  return {
    options,
    defaults: { timeoutMs, retries, lenientAck, consent, groupId, userId, ancestors, listener },
    headers,
    target,
    configured: target ? [] : await configuredIn(terminal),
    operation,
    arguments: hasArguments
      ? await gatherArguments({ words: given, ...(args !== undefined && { whole: args }) }, keyboard())
      : undefined,
  };
}

/** Without a configuration the user can still open a server. */
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

// biome-ignore lint/correctness/useYield: arguments cannot be read from the keyboard
async function* keyboard(): AsyncGenerator<Uint8Array> {
  throw new Error('standard input is the keyboard here');
}

/** Draws until it is closed. */
export type Draw = (options: WorkbenchOptions) => { close(): Promise<void> };

const loadScreen = async (): Promise<Draw> => (await import('../../tui/workbench/screen.js')).workbenchScreen;

/** Runs until the user quits or a signal comes; then restores the screen, cancels calls, and stops what was started. */
export async function runWorkbench(
  plan: WorkbenchPlan,
  terminal: Terminal,
  { clock = systemClock, load = loadScreen } = {},
): Promise<ExitStatus> {
  const interrupted = interruption();
  const { defaults, headers, options } = plan;
  let finish = () => {};
  const over = new Promise<void>(resolve => {
    finish = resolve;
  });
  interrupted.onSignal(finish);
  const engine = createEngine({ terminal, clock, defaults, headers, onQuit: finish });
  const { log, redactor, about } = engine;
  let save = async (_reason: string) => {};
  let stopWatching = () => {};
  let reason = 'failed';
  try {
    if (options.save !== undefined) save = await saveTranscript(log, options.save, redactor, about, terminal);
    const draw = await load();
    const server = plan.target ? engine.open(plan.target) : undefined;
    engine.offer(plan.configured);
    if (options.watch && server !== undefined)
      stopWatching = await watchServer(plan, terminal, () => engine.restart(server));
    const { world, controls, subscribe } = engine;
    const { stdin, stdout, env } = terminal;
    const { supports, color } = options;
    const level = colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !color });
    const start = startOf(plan, server);
    const screen = draw({
      ...{ world, controls, subscribe, onEvent: log.subscribe },
      ...{ stdin, stdout, level, supports, start, clock },
    });
    await over.finally(() => screen.close());
    reason = interrupted.signal.aborted ? 'interrupted' : 'done';
    const unsaved = reason === 'done' && options.save === undefined ? engine.unsaved() : 0;
    if (unsaved > 0) terminal.stderr.write(unsavedText(unsaved));
  } finally {
    stopWatching();
    await engine
      .close()
      .finally(() => save(reason))
      .finally(interrupted.release);
  }
  return interrupted.signalStatus() ?? 0;
}

async function watchServer({ target }: WorkbenchPlan, { cwd }: Terminal, onChange: () => void) {
  const { watchCommand } = await import('../watch-command.js');
  const command = target?.kind === 'command' ? target.command : undefined;
  const watching = await watchCommand(command, cwd, onChange);
  return () => watching.close();
}

function startOf(plan: WorkbenchPlan, server: string | undefined): WorkbenchOptions['start'] {
  const { operation, arguments: args, options } = plan;
  return {
    ...(server !== undefined && { server }),
    ...(options.open !== undefined && { transcript: options.open }),
    ...(operation !== undefined && { operation, ...(args && { arguments: args }) }),
  };
}

function unsavedText(count: number): string {
  const calls = count === 1 ? '1 call was' : `${count} calls were`;
  return `${calls} not saved. Next time press S, or give --save <file>.\n`;
}

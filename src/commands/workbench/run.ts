import { colourLevel } from '../../dress/colour-level.js';
import { type Clock, systemClock } from '../../system/clock.js';
import type { Watching } from '../../system/watch-files.js';
import type { WorkbenchOptions } from '../../ui/workbench/options.js';
import type { ExitStatus } from '../exit-status.js';
import { interruption } from '../interruption.js';
import { saveTranscript } from '../save-transcript.js';
import type { Terminal } from '../terminal.js';
import { createEngine, type Engine } from './engine.js';
import type { WorkbenchPlan } from './plan.js';

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
    const screen = draw({ ...optionsFor(plan, engine, terminal), start, clock }); // its first frame waits for nobody
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
  const { watchCommand } = await import('../invoke/watch.js');
  return watchCommand(target?.kind === 'command' ? target.command : undefined, cwd, onChange);
}

async function loadScreen(): Promise<Draw> {
  return (await import('../../ui/workbench/screen.js')).workbenchScreen;
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

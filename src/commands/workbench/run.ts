import { colourLevel } from '../../dress/colour-level.js';
import { type Clock, systemClock } from '../../system/clock.js';
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
  const { manners, headers, options } = plan;
  let finish = () => {};
  const over = new Promise<void>(resolve => {
    finish = resolve;
  });
  interrupted.onSignal(finish);
  const engine = createEngine({ terminal, clock, manners, headers, onQuit: finish });
  try {
    const { log, redactor, about } = engine;
    const keep =
      options.save === undefined ? null : await saveTranscript(log, options.save, redactor, about, terminal);
    const draw = await load();
    const screen = draw(optionsFor(plan, engine, terminal, clock)); // its first frame waits for nobody
    await over.finally(() => screen.close());
    await engine.close();
    await keep?.(interrupted.signal.aborted ? 'interrupted' : 'done');
  } finally {
    await engine.close();
    interrupted.release();
  }
  return interrupted.signalStatus() ?? 0;
}

async function loadScreen(): Promise<Draw> {
  return (await import('../../ui/workbench/screen.js')).workbenchScreen;
}

function optionsFor(
  { target, configured, operation, arguments: args, options }: WorkbenchPlan,
  { world, controls, subscribe, log, redactor, ...engine }: Engine,
  { stdin, stdout, env }: Terminal,
  clock: Clock,
): WorkbenchOptions {
  const server = target ? { server: engine.open(target) } : {};
  engine.offer(configured);
  const start = { ...server, ...(operation !== undefined && { operation, arguments: args }) };
  const level = colourLevel({ env, isTTY: stdout.isTTY === true, noColor: !options.color });
  const { supports } = options;
  return {
    ...{ world, controls, clock, level, supports, redactor, start, subscribe, stdin, stdout },
    onEvent: log.subscribe,
  };
}

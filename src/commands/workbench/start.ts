import { ProtocolCliError } from '../../errors.js';
import { keepHeapTight, keepNewspaceSmall } from '../../system/tight-heap.js';
import type { ExitStatus } from '../exit-status.js';
import { refuseIdle } from '../invoke/idle.js';
import type { InvokeOptions } from '../invoke/plan.js';
import { canDraw, type Terminal } from '../terminal.js';
import { IDLE_OPTIONS } from './idle-options.js';
import { planWorkbench } from './plan.js';
import { runWorkbench } from './run.js';

/** `invoke --interactive`, and `protocol-cli` alone. @throws ProtocolCliError `usage` where nothing can be drawn. */
export async function startWorkbench(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  refuseIdle('--interactive', options.told ?? [], IDLE_OPTIONS);
  if (!canDraw(terminal))
    throw new ProtocolCliError('usage', `the workbench ${NEEDS}`, {
      hint: 'protocol-cli invoke <url> <operation> makes one call, and needs none; protocol-cli --help lists the rest.',
    });
  keepHeapTight(GROWTH);
  keepNewspaceSmall();
  return runWorkbench(await planWorkbench(words, options, terminal), terminal);
}

/** In percent: all calls of a session are kept, and hardly anything that frames are made of. */
const GROWTH = 40;
const NEEDS = 'needs a terminal of at least 40×8 on stdin and stdout, outside CI';

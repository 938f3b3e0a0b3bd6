import type { ExitStatus } from '../exit-status.js';
import type { Terminal } from '../terminal.js';
import { dryRun } from './dry-run.js';
import { type InvokeOptions, planInvoke } from './plan.js';
import { runInvoke } from './run.js';

/** What `invoke` loads once it is called: the words become a plan, the plan is shown or carried out. */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const plan = planInvoke(words, options);
  return options.dryRun ? dryRun(plan, terminal) : runInvoke(plan, terminal);
}

import { ProtocolCliError } from '../../errors.js';
import { errorReport } from '../../reporters/trouble.js';
import { writeOut } from '../../system/output.js';
import { safeJson } from '../../text/json-safe.js';
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
  if (options.interactive) {
    const { startWorkbench } = await import('../workbench/start.js');
    return startWorkbench(words, options, terminal);
  }
  try {
    if (options.mcp !== undefined)
      return await (await import('./mcp/start.js')).startMcp(words, options, terminal);
    if (options.watch && !options.dryRun)
      return await (await import('./watch.js')).invokeAndWatch(words, options, terminal);
    const plan = planInvoke(words, options);
    return await (options.dryRun ? dryRun(plan, terminal) : runInvoke(plan, terminal));
  } catch (error) {
    // Whoever asked for an object gets one, however early it failed.
    const wantsReport = options.output === 'json' && options.dialect === undefined;
    if (wantsReport && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}

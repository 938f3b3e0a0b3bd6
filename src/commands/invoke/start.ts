import { errorReport } from '../../render/outputs/trouble.js';
import { writeOut } from '../../system/streams.js';
import { ProtocolCliError } from '../../util/errors.js';
import { safeJson } from '../../util/redact.js';
import type { ExitStatus, Terminal } from '../terminal.js';
import { dryRun } from './dry-run.js';
import { type InvokeOptions, planInvoke } from './plan.js';
import { runInvoke } from './run.js';

/** Runs `invoke`. With `-o json` an object is printed even if the command fails early. */
export async function startInvoke(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const { interactive, mcp, watch, dryRun: isDry, output, dialect, command } = options;
  if (interactive) return (await import('../workbench/start.js')).startWorkbench(words, options, terminal);
  try {
    if (mcp !== undefined) return await (await import('./mcp.js')).startMcp(words, options, terminal);
    const run = () => runInvoke(planInvoke(words, options), terminal);
    if (isDry) return await dryRun(planInvoke(words, options), terminal);
    if (!watch) return await run();
    return await (await import('../watch-command.js')).runOnEachChange(command, terminal, run);
  } catch (error) {
    if (output === 'json' && dialect === undefined && error instanceof ProtocolCliError)
      await writeOut(terminal.stdout, `${safeJson({ warnings: [], error: errorReport(error) }, 2)}\n`);
    throw error;
  }
}

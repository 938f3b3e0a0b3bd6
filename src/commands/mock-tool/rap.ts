import { MockTool } from '../../tool/mock-tool.js';
import type { ExitStatus } from '../exit-status.js';
import type { Terminal } from '../terminal.js';
import type { MockToolPlan } from './plan.js';
import type { Served } from './served.js';
import type { Sources } from './sources.js';
import { startTelling } from './telling.js';
import { startWarnings } from './warnings.js';

/** Serves RAP. @throws ProtocolCliError as {@link MockTool.start}. */
export async function serveRap(
  plan: MockToolPlan,
  { warnings = [], ...sources }: Sources,
  terminal: Terminal,
): Promise<Served> {
  const tool = await MockTool.start({ ...plan.tool, ...sources });
  return {
    tool,
    env: { TOOL_URL: tool.url },
    warnings: [...warnings, ...startWarnings(plan.flags, tool.url, sources.fixtures)],
    over: new Promise<never>(() => {}),
    tell: () => startTelling(tool, plan, terminal),
    close: () => tool.close(),
    status: () => journalStatus(tool, terminal),
  };
}

/** What was not kept was not acknowledged either; but whoever relies on the journal must hear of it. */
function journalStatus({ journalFailure }: MockTool, { stderr }: Terminal): ExitStatus {
  if (journalFailure) stderr.write(`error: the journal could not be written: ${journalFailure.message}\n`);
  return journalFailure ? 1 : 0;
}

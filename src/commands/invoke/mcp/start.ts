import { ProtocolCliError } from '../../../errors.js';
import { visibleLine } from '../../../text/visible.js';
import type { ExitStatus } from '../../exit-status.js';
import type { Terminal } from '../../terminal.js';
import { type InvokeOptions, planInvoke } from '../plan.js';
import { runInvoke } from '../run.js';
import { overMcp } from './call.js';
import { dryRunMcp } from './dry-run.js';
import { refuseForMcp } from './refuse.js';
import { readMcpTarget } from './target.js';

/** `invoke --mcp`: the same command on another wire. @throws ProtocolCliError `usage`. */
export async function startMcp(
  words: readonly string[],
  options: InvokeOptions,
  terminal: Terminal,
): Promise<ExitStatus> {
  const peer = readMcpTarget(options.mcp ?? '');
  refuseForMcp(options, peer);
  const plan = planInvoke(words, options);
  if (plan.operation === undefined)
    throw new ProtocolCliError('usage', 'no tool of the MCP server is named', {
      hint: `It is the first word: protocol-cli invoke --mcp '${visibleLine(peer.name)}' <tool> key=value`,
    });
  return options.dryRun
    ? dryRunMcp(plan, peer, terminal)
    : runInvoke(plan, terminal, { calling: overMcp(peer) });
}

import { ProtocolCliError } from '../../../errors.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import { refuseIdle } from '../idle.js';
import type { InvokeOptions } from '../plan.js';
import { IDLE_OPTIONS } from './idle-options.js';

const OF_HTTP = ['--header', '--bearer'];

/** Options that have no effect with `--mcp` are refused. @throws ProtocolCliError `usage`. */
export function refuseForMcp({ told = [] }: InvokeOptions, peer: McpPeer): void {
  refuseIdle('--mcp', told, IDLE_OPTIONS);
  refuseHeaders(peer, told);
}

/** A command has no HTTP headers. @throws ProtocolCliError `usage`. */
export function refuseHeaders({ kind }: McpPeer, given: readonly string[]): void {
  const headers = given.filter(option => OF_HTTP.includes(option));
  if (kind === 'stdio' && headers.length > 0)
    throw new ProtocolCliError('usage', `a command that is started gets no ${headers.join(', ')}`, {
      hint: 'Give it what it needs by its environment or its own options.',
    });
}

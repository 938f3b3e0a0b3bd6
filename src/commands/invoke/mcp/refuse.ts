import { ProtocolCliError } from '../../../errors.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import { refuseIdle } from '../idle.js';
import type { InvokeOptions } from '../plan.js';
import { IDLE_OPTIONS } from './idle-options.js';

const OF_HTTP = ['--header', '--bearer'];

/** Options that would do nothing are refused, and named. @throws ProtocolCliError `usage`. */
export function refuseForMcp({ told = [] }: InvokeOptions, { kind }: McpPeer): void {
  refuseIdle('--mcp', told, IDLE_OPTIONS);
  const headers = told.filter(option => OF_HTTP.includes(option));
  if (kind === 'stdio' && headers.length > 0)
    throw new ProtocolCliError('usage', `a command that is started gets no ${headers.join(', ')}`, {
      hint: 'Give it what it needs by its environment or its own options.',
    });
}

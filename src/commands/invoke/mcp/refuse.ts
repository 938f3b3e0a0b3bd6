import { ProtocolCliError } from '../../../errors.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import type { InvokeOptions } from '../plan.js';
import { IDLE_OPTIONS } from './idle-options.js';

const OF_HTTP = ['--header', '--bearer'];

/** Options that would do nothing are refused, and named. @throws ProtocolCliError `usage`. */
export function refuseForMcp({ told = [] }: InvokeOptions, { kind }: McpPeer): void {
  const idle = told.filter(option => IDLE_OPTIONS.has(option));
  if (idle.length > 0)
    throw new ProtocolCliError('usage', `--mcp has no use for ${idle.join(', ')}`, {
      faults: idle.map(option => `${option}: ${IDLE_OPTIONS.get(option)}`),
      hint: `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
    });
  const headers = told.filter(option => OF_HTTP.includes(option));
  if (kind === 'stdio' && headers.length > 0)
    throw new ProtocolCliError('usage', `a command that is started gets no ${headers.join(', ')}`, {
      hint: 'Give it what it needs by its environment or its own options.',
    });
}

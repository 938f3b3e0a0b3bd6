import { ProtocolCliError } from '../../../errors.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import type { InvokeOptions } from '../plan.js';

/** What belongs to RAP: its ways to name a tool, its identity, its callbacks, its conversation. */
const OF_RAP = [
  '--demo',
  '--command',
  '--endpoint',
  '--call-id',
  '--group-id',
  '--user-id',
  '--ancestor',
  '--retries',
  '--linger',
  '--follow',
  '--repeat',
  '--concurrency',
  '--lenient-ack',
  '--callback-host',
  '--callback-port',
  '--callback-url',
  '--allow-host',
  '--choose',
  '--supports',
];
const OF_HTTP = ['--header', '--bearer'];

/** Options that would do nothing are refused, and named. @throws ProtocolCliError `usage`. */
export function refuseForMcp({ told = [] }: InvokeOptions, { kind }: McpPeer): void {
  const idle = told.filter(option => OF_RAP.includes(option));
  if (idle.length > 0)
    throw new ProtocolCliError('usage', `--mcp has no use for ${idle.join(', ')}`, {
      hint: 'On an MCP wire nobody is called back: the answer to tools/call is the result.',
    });
  const headers = told.filter(option => OF_HTTP.includes(option));
  if (kind === 'stdio' && headers.length > 0)
    throw new ProtocolCliError('usage', `a command that is started gets no ${headers.join(', ')}`, {
      hint: 'Give it what it needs by its environment or its own options.',
    });
}

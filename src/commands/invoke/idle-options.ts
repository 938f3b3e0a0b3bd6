import { usage } from '../options.js';

/** Options that have no effect beside another option, grouped by reason. */
const IDLE: Readonly<Record<'--mcp' | '--interactive', Readonly<Record<string, string>>>> = {
  '--mcp': {
    'the tool is that of --mcp': '--demo --command --watch --endpoint',
    'MCP has no threads, and no ids but those of JSON-RPC':
      '--call-id --group-id --user-id --ancestor --no-close',
    'tools/call is sent once, and answered once':
      '--retries --lenient-ack --linger --follow --repeat --concurrency',
    'MCP has no callbacks: the answer to tools/call is the result':
      '--callback-host --callback-port --callback-url --allow-host',
    'MCP has no display segments to choose from': '--supports',
  },
  '--interactive': {
    'the workbench needs the toolset of a RAP server': '--endpoint --mcp',
    'each call has ids of its own, and its thread is closed when you quit': '--id --call-id --no-close',
    'you decide it for each call on the screen': '--no-validate --dry-run --repeat --concurrency --choose',
    'it stays until you quit': '--linger --follow',
    'it is drawn on the terminal': '--output --dialect --quiet --verbose',
  },
};

/** Refuses options that would have no effect. @throws ProtocolCliError `usage`. */
export function refuseIdle(beside: keyof typeof IDLE, given: readonly string[]): void {
  const reasons = Object.entries(IDLE[beside]);
  const reasonOf = (option: string) =>
    reasons.find(([, options]) => options.split(' ').includes(option))?.[0];
  const idle = given.filter(option => reasonOf(option) !== undefined);
  if (idle.length === 0) return;
  throw usage(
    `${beside} has no use for ${idle.join(', ')}`,
    `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
    idle.map(option => `${option}: ${reasonOf(option)}`),
  );
}

/** Formats the list for the help. */
export function idleText(beside: keyof typeof IDLE): string {
  const lines = Object.values(IDLE[beside])
    .join(' ')
    .replace(/(.{1,73})(?: |$)/g, '    $1\n');
  return `\nOptions that cannot be combined with ${beside}:\n${lines}`;
}

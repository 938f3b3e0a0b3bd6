import type { McpPeer } from '../../runtime/mcp/connection.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { InvokeOptions } from './plan.js';

const ITS_OWN = 'each call has ids of its own';
const STAYS = 'it stays until you quit';
const DRAWN = 'it is drawn on the terminal';

/** What is about a single call, or about being told without a screen, and why it would do nothing in the workbench. */
export const IDLE_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--endpoint', 'without discovery there are no operations to choose from'],
  ['--mcp', 'the workbench speaks RAP'],
  ['--no-validate', 'you are shown what is wrong, and may send it all the same'],
  ['--dry-run', 'nothing is sent before you say so; a call can be copied as curl'],
  ['--id', ITS_OWN],
  ['--call-id', ITS_OWN],
  ['--no-close', 'threads are closed when you quit'],
  ['--linger', STAYS],
  ['--follow', STAYS],
  ['--repeat', 'a call is run again with a key'],
  ['--concurrency', 'it belongs to --repeat'],
  ['--choose', 'you are asked'],
  ['--output', DRAWN],
  ['--dialect', DRAWN],
  ['--quiet', DRAWN],
  ['--verbose', 'the wire of each call is a tab'],
]);

const CALLED_BACK = 'nobody is called back: the answer to tools/call is the result';
const OTHER_TOOL = 'the tool is that of --mcp';
const ONCE = 'tools/call is sent once, and answered once';
const NO_THREADS = 'MCP has no threads, and no ids but those of JSON-RPC';

/** What belongs to RAP, and why it would do nothing on an MCP wire. */
export const IDLE_OPTIONS_IDLE_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--demo', OTHER_TOOL],
  ['--command', `${OTHER_TOOL}, which takes a command itself`],
  ['--endpoint', 'the URL of --mcp is the endpoint already'],
  ['--call-id', NO_THREADS],
  ['--group-id', NO_THREADS],
  ['--user-id', 'MCP has no word for the user of a call'],
  ['--ancestor', NO_THREADS],
  ['--watch', 'it belongs to --command'],
  ['--no-close', NO_THREADS],
  ['--retries', ONCE],
  ['--linger', `${ONCE}: nothing comes after the result`],
  ['--follow', 'MCP results open no subscription'],
  ['--repeat', 'calls are compared by their callbacks, and MCP has none'],
  ['--concurrency', 'it belongs to --repeat'],
  ['--lenient-ack', 'there is no acknowledgement'],
  ['--callback-host', CALLED_BACK],
  ['--callback-port', CALLED_BACK],
  ['--callback-url', CALLED_BACK],
  ['--allow-host', CALLED_BACK],
  ['--supports', 'MCP has no display segments to choose from'],
]);

/** Options that would do nothing beside another one, each with why. */
type Idle = ReadonlyMap<string, string>;

/** Options that would do nothing are refused, and named. @throws ProtocolCliError `usage`. */
export function refuseIdle(beside: string, told: readonly string[], options: Idle): void {
  const idle = told.filter(option => options.has(option));
  if (idle.length === 0) return;
  throw new ProtocolCliError('usage', `${beside} has no use for ${idle.join(', ')}`, {
    faults: idle.map(option => `${option}: ${options.get(option)}`),
    hint: `Leave ${idle.length === 1 ? 'it' : 'them'} out; \`protocol-cli invoke --help\` lists all of these.`,
  });
}

/** For the help. */
export function idleText(beside: string, options: Idle): string {
  return `\nOptions that cannot be combined with ${beside}:\n${wrapped([...options.keys()])}\n`;
}

function wrapped(words: readonly string[]): string {
  const lines: string[] = [];
  for (const word of words) {
    const longer = `${lines.at(-1) ?? ''} ${word}`;
    if (lines.length > 0 && longer.length <= 78) lines[lines.length - 1] = longer;
    else lines.push(`    ${word}`);
  }
  return lines.join('\n');
}

const OF_HTTP = ['--header', '--bearer'];

/** Options that have no effect with `--mcp` are refused. @throws ProtocolCliError `usage`. */
export function refuseForMcp({ told = [] }: InvokeOptions, peer: McpPeer): void {
  refuseIdle('--mcp', told, IDLE_OPTIONS_IDLE_OPTIONS);
  refuseHeaders(peer, told);
}

/** A command has no HTTP headers. @throws ProtocolCliError `usage`. */
export function refuseHeaders({ kind }: McpPeer, given: readonly string[]): void {
  const headers = given.filter(option => OF_HTTP.includes(option));
  if (kind === 'stdio' && headers.length > 0)
    throw new ProtocolCliError('usage', `a started command does not receive ${headers.join(', ')}`, {
      hint: 'Use its environment or its own options.',
    });
}

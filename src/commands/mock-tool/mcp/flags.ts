import { ProtocolCliError } from '../../../errors.js';

export type McpTransport = 'stdio' | 'http';
export const MCP_TRANSPORTS: readonly McpTransport[] = ['stdio', 'http'];

interface Flags {
  readonly mcp?: McpTransport;
  /** Which options were written out. */
  readonly given?: readonly string[];
  readonly output?: string;
}

/** What is about callbacks, of which MCP has none. */
const OF_CALLBACKS = ['allowCallback', 'retries', 'maxPending', 'journal', 'fsync', 'allowRepeats'];
/** What is about a server of HTTP. */
const OF_HTTP = ['host', 'port', 'allowHost', 'allowOrigin'];

/**
 * What makes no sense together with `--mcp`.
 * @throws ProtocolCliError `usage` that names it.
 */
export function checkMcpFlags({ mcp, given = [], output }: Flags, hasCommand: boolean): void {
  if (mcp === undefined && given.includes('allowOrigin'))
    throw new ProtocolCliError('usage', '--allow-origin is for --mcp http', {
      hint: 'A web page cannot call a RAP tool: leave the option out.',
    });
  if (mcp === undefined) return;
  refuse(given, OF_CALLBACKS, '--mcp has no callbacks, and these options are about them');
  if (output === 'ui')
    throw new ProtocolCliError('usage', '-o ui does not show MCP', { hint: '-o plain tells it in lines.' });
  if (mcp === 'http') return;
  refuse(given, OF_HTTP, '--mcp stdio listens nowhere, and these options say where');
  if (hasCommand)
    throw new ProtocolCliError('usage', '--mcp stdio and a command both want stdin and stdout', {
      hint: 'With --mcp http the command finds the address in MCP_URL.',
    });
}

function refuse(given: readonly string[], options: readonly string[], why: string): void {
  const strays = options.filter(option => given.includes(option)).map(flagOf);
  if (strays.length > 0)
    throw new ProtocolCliError('usage', `${why}: ${strays.join(', ')}`, {
      hint: `Leave ${strays.length === 1 ? 'it' : 'them'} out, or --mcp.`,
    });
}

/** As it is written: `allowCallback` is `--allow-callback`. */
export function flagOf(option: string): string {
  return `--${option.replace(/[A-Z]/g, letter => `-${letter.toLowerCase()}`)}`;
}

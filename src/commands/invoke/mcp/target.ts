import { ProtocolCliError } from '../../../errors.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import { asUrl } from '../../target.js';

/** What is a URL, written out or as curl takes one with a port; a file name such as `server.js` is none. */
const URL_LIKE = /^(?:[a-z][a-z\d+.-]*:\/\/\S+|:\d+(?:\/\S*)?|[\w.-]+:\d+(?:\/\S*)?|localhost(?:\/\S*)?)$/i;

/** `--mcp`: the endpoint of a server, or a command that starts one. @throws ProtocolCliError `usage`. */
export function readMcpTarget(value: string): McpPeer {
  const given = value.trim();
  if (given === '')
    throw new ProtocolCliError(
      'usage',
      '--mcp needs the URL of an MCP server, or a command that starts one',
      {
        hint: "For example: --mcp http://127.0.0.1:3000/mcp, or --mcp 'node server.mjs'",
      },
    );
  const url = URL_LIKE.test(given) ? asUrl(given) : null;
  return url === null ? { kind: 'stdio', name: given } : { kind: 'http', name: url };
}

/** Where calls go, for a transcript: of a command only its program, since words after it may be secrets. */
export function endpointOf({ kind, name }: McpPeer): string {
  if (kind === 'http') return name;
  const word = name.split(/\s+/).find(each => !/^\w+=/.test(each)) ?? '';
  const program = word.replace(/^.*[/\\]/, '').replaceAll(/["']/g, '');
  return `stdio:${/^[\w@.-]{1,60}$/.test(program) ? program : ''}`;
}

import type { McpPeer } from '../../../runtime/mcp/transports.js';
import { ProtocolCliError } from '../../../util/errors.js';
import { asUrl } from '../../target.js';

/** A URL, or a short one with a port as for curl; not a file name such as `server.js`. */
const URL_LIKE = /^(?:[a-z][a-z\d+.-]*:\/\/\S+|:\d+(?:\/\S*)?|[\w.-]+:\d+(?:\/\S*)?|localhost(?:\/\S*)?)$/i;

/** `--mcp`: the endpoint of a server, or a command that starts one. @throws ProtocolCliError `usage`. */
export function readMcpTarget(value: string): McpPeer {
  const given = value.trim();
  if (given === '')
    throw new ProtocolCliError('usage', '--mcp needs the URL or the command of an MCP server', {
      hint: "For example: --mcp http://127.0.0.1:3000/mcp, or --mcp 'node server.mjs'",
    });
  const url = URL_LIKE.test(given) ? asUrl(given) : null;
  return url === null ? { kind: 'stdio', name: given } : { kind: 'http', name: url };
}

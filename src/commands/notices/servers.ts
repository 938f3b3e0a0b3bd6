import { ProtocolCliError } from '../../errors.js';
import { baseOf } from '../../protocol/addresses.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Credentials } from '../../runtime/wire.js';
import { visibleLine } from '../../text/visible.js';
import { type HeaderOptions, readCredentials, readHeaders } from '../headers.js';
import { readRapConfig, requireServers } from '../rap-config.js';
import { type ConfiguredTarget, commandOf, readTarget } from '../target.js';
import type { Terminal } from '../terminal.js';

/** A server that is told something, and the headers that it may see. */
export interface Server {
  readonly base: string;
  readonly credentials: Credentials;
}

export interface Servers {
  readonly servers: readonly Server[];
  readonly notes: readonly Warning[];
}

/**
 * The URL that a word stands for.
 * @throws ProtocolCliError `usage`.
 */
export function urlOf(word: string): string {
  const { url } = splitWords([word]);
  if (url !== null) return url;
  throw new ProtocolCliError('usage', `"${word}" is no URL`, {
    hint: 'A tool server is given as http://host:port.',
  });
}

/**
 * The server that the first word names, and the rest of the words.
 * @throws ProtocolCliError `usage`.
 */
export function splitWords(words: readonly string[]): {
  readonly url: string | null;
  readonly rest: readonly string[];
} {
  const { target, rest } = readTarget(words, {});
  return { url: target?.kind === 'url' ? target.url : null, rest };
}

/**
 * The server at a URL, or every one of `.infinity/rap.json` (RT-NOTIFY). Its commands are no servers that could know a call:
 * they would only be started now.
 * @throws ProtocolCliError `usage`, `unreadable-file`.
 */
export async function serversAt(
  url: string | null,
  options: HeaderOptions,
  terminal: Terminal,
): Promise<Servers> {
  const { env } = terminal;
  if (url !== null) return { servers: [serverAt(url, options, env)], notes: [] };
  const config = await readRapConfig(terminal, 'Give its URL, such as http://127.0.0.1:3001.');
  requireServers(config);
  const { targets, warnings } = config;
  const urls = targets.flatMap(each => (each.kind === 'url' ? [each.url] : []));
  const servers = [...new Map(urls.map(each => [baseOf(each), serverAt(each, options, env)])).values()];
  refuseSpreading(servers, readHeaders(options, env));
  const notReached = [...warnings, ...targets.flatMap(notReachedNote)];
  if (servers.length === 0)
    throw new ProtocolCliError('usage', 'no configured server is running that takes notices', {
      faults: notReached.map(({ message }) => message),
      hint: 'Give the URL of the tool server.',
    });
  return { servers, notes: notReached };
}

function serverAt(url: string, options: HeaderOptions, env: Terminal['env']): Server {
  return { base: baseOf(url), credentials: readCredentials(options, url, env) };
}

/** A credential is meant for one origin, and nobody said which (threats, row 12). */
function refuseSpreading(servers: readonly Server[], headers: Readonly<Record<string, string>>): void {
  const origins = new Set(servers.map(({ credentials }) => credentials.origin));
  if (origins.size < 2 || Object.keys(headers).length === 0) return;
  throw new ProtocolCliError('usage', '.infinity/rap.json names several servers, and headers are for one', {
    hint: 'Give the URL of the server that the headers are meant for.',
  });
}

function notReachedNote(target: ConfiguredTarget): Warning[] {
  const command = commandOf(target);
  if (command !== null)
    return [{ message: `not notified: ${visibleLine(command)} (this command is not running)` }];
  if (target.kind !== 'mcp') return [];
  return [{ message: `not notified: ${visibleLine(target.name)} (MCP servers take no such notices)` }];
}

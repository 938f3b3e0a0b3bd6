import type { Log } from '../../../exchange/log.js';
import type { Warning } from '../../../protocol/requirements.js';
import type { Tool } from '../../../protocol/toolset.js';
import { checkArguments, toolOf } from '../../../runtime/check-call.js';
import { type McpConnection, openMcp } from '../../../runtime/mcp/connection.js';
import { explainMcp, garbageOf, type McpPeer } from '../../../runtime/mcp/explain.js';
import { asking, type Place } from '../../../runtime/mcp/handshake.js';
import { HttpLink } from '../../../runtime/mcp/http.js';
import type { Link } from '../../../runtime/mcp/link.js';
import { type Hearing, overhear } from '../../../runtime/mcp/overhear.js';
import { StdioLink } from '../../../runtime/mcp/stdio.js';
import { listTools } from '../../../runtime/mcp/tool-list.js';
import type { Clock } from '../../../system/clock.js';
import { visible } from '../../../text/visible.js';
import { readHeaders } from '../../headers.js';
import type { OnStop } from '../../interruption.js';
import { PROGRAM } from '../../program.js';
import type { Terminal } from '../../terminal.js';
import { readArguments } from '../arguments.js';
import { operationOf } from '../locate.js';
import type { InvokePlan } from '../plan.js';
import { patience, tellIfSlow } from './patience.js';
import { endpointOf } from './target.js';

/** A tool of an MCP server that can be called. */
export interface Reached {
  readonly peer: McpPeer;
  readonly link: Link;
  readonly connection: McpConnection;
  readonly endpoint: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly tool: Tool;
  readonly args: Record<string, unknown>;
  readonly notes: readonly Warning[];
}

interface Desk {
  readonly log: Log;
  readonly terminal: Terminal;
  readonly onStop: OnStop;
  readonly clock: Clock;
  /** Gets what a server that is started writes to stderr. */
  readonly onStderr?: (text: string) => void;
  /** Gets every message on the wire. */
  readonly hear?: Hearing;
  /** Gets what is waited for, where that takes long and nothing else shows it. */
  readonly onWait?: (text: string) => void;
}

/** The server reached, its tools listed, the operation known, the arguments checked. @throws ProtocolCliError saying what is wrong. */
export async function reachMcp(plan: InvokePlan, peer: McpPeer, desk: Desk): Promise<Reached> {
  const { log, terminal, onStop } = desk;
  const { options } = plan;
  const headers = readHeaders(options, terminal.env);
  const link = linkTo(peer, headers, options.maxBody, desk.onStderr);
  if (desk.hear) overhear(link, desk.hear);
  onStop(() => link.close());
  const endpoint = endpointOf(peer);
  const { connection, tools, notes } = await shakeHands(link, peer, { endpoint, headers }, plan, desk);
  const operations = tools.map(({ name }) => name);
  log.emit({ kind: 'loaded', base: null, endpoint, toolset: connection.server, operations });
  const toolset = { name: connection.server, tools: [...tools], endpoint, needsMigration: false };
  const tool = toolOf(toolset, operationOf(plan));
  const args = await readArguments(plan.words, tool.inputSchema, terminal.stdin);
  const unchecked = options.validate ? await checkArguments(tool, args, '') : [];
  const told = notes.map(message => ({ message }));
  return { peer, link, connection, endpoint, headers, tool, args, notes: [...told, ...unchecked] };
}

/** The server started, greeted, and asked for its tools, all within one limit. @throws ProtocolCliError saying which of them failed. */
async function shakeHands(
  link: Link,
  peer: McpPeer,
  place: Place,
  { options: { timeout } }: InvokePlan,
  { log, clock, onStop, onWait = () => {} }: Desk,
) {
  const time = patience(timeout, clock);
  const stopTelling = tellIfSlow(peer, time, clock, onWait);
  const ask: <T>(method: 'initialize' | 'tools/list', work: () => Promise<T>) => Promise<T> = (
    method,
    work,
  ) =>
    asking(log, place, method, work).catch((error: unknown) => {
      throw explainMcp(error, method, peer, link, time.limitMs);
    });
  const version = PROGRAM.slice(PROGRAM.indexOf('/') + 1);
  try {
    const connection = await ask('initialize', () => openMcp(link, { version, timeoutMs: time.left() }));
    onStop(() => connection.close());
    return { connection, ...(await ask('tools/list', () => listTools(connection, time.left))) };
  } finally {
    stopTelling();
  }
}

function linkTo(
  { kind, name }: McpPeer,
  headers: Readonly<Record<string, string>>,
  maxBytes: number,
  onStderr: Desk['onStderr'],
): Link {
  if (kind === 'http') return new HttpLink({ url: name, headers, maxBytes });
  return new StdioLink({ command: name, maxBytes, ...(onStderr && { onStderr }) });
}

/** What is to be warned of, as far as it is known by now. */
export function notesSoFar({ notes, link }: Pick<Reached, 'notes' | 'link'>): readonly Warning[] {
  return [...notes, ...garbageOf(link).map(message => ({ message }))];
}

/** What a server writes to its stderr, safe to print and told apart from ours. */
export function serverLines(text: string): string {
  return visible(text.trimEnd())
    .split('\n')
    .map(line => `server: ${line}\n`)
    .join('');
}

import type { Log } from '../../../exchange/log.js';
import type { Warning } from '../../../protocol/requirements.js';
import type { Tool } from '../../../protocol/toolset.js';
import { checkArguments, toolOf } from '../../../runtime/check-call.js';
import { connectMcp, type McpServer, type McpTarget } from '../../../runtime/mcp/connection.js';
import type { McpPeer } from '../../../runtime/mcp/explain.js';
import type { Hearing } from '../../../runtime/mcp/overhear.js';
import type { Clock } from '../../../system/clock.js';
import { readHeaders } from '../../headers.js';
import type { OnStop } from '../../interruption.js';
import { PROGRAM } from '../../program.js';
import type { Terminal } from '../../terminal.js';
import { readArguments } from '../arguments.js';
import { operationOf } from '../locate.js';
import type { InvokePlan } from '../plan.js';
import { patience, tellIfSlow } from './patience.js';

/** A tool of an MCP server that can be called. */
export interface Reached {
  readonly peer: McpPeer;
  readonly server: McpServer;
  readonly tool: Tool;
  readonly args: Record<string, unknown>;
  /** Arguments that were not checked. */
  readonly unchecked: readonly Warning[];
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

/** Connects to the server, finds the tool and checks the arguments. @throws ProtocolCliError saying what is wrong. */
export async function reachMcp(plan: InvokePlan, peer: McpPeer, desk: Desk): Promise<Reached> {
  const { terminal } = desk;
  const { options } = plan;
  const server = await openServer({ ...peer, headers: readHeaders(options, terminal.env) }, options, desk);
  const { server: name, endpoint, tools } = server;
  const tool = toolOf({ name, tools: [...tools], endpoint, needsMigration: false }, operationOf(plan));
  server.checkCallable(tool.name);
  const args = await readArguments(plan.words, tool.inputSchema, terminal.stdin);
  const unchecked = options.validate ? await checkArguments(tool, args, '') : [];
  return { peer, server, tool, args, unchecked };
}

interface Limits {
  /** Ms that a call may take; 0 is no limit. */
  readonly timeout: number;
  /** Bytes of one message. */
  readonly maxBody: number;
}

/** Connects to a server within a time limit. @throws ProtocolCliError saying what failed. */
export async function openServer(
  target: McpTarget,
  { timeout, maxBody: maxBytes }: Limits,
  { clock, onWait = () => {}, log, onStop, onStderr, hear }: Omit<Desk, 'terminal'>,
): Promise<McpServer> {
  const time = patience(timeout, clock);
  const stopTelling = tellIfSlow(target, time, clock, onWait);
  const version = PROGRAM.slice(PROGRAM.indexOf('/') + 1);
  const more = { ...(onStderr && { onStderr }), ...(hear && { hear }) };
  return connectMcp(target, { ...time, ...more, log, onStop, version, maxBytes, elicits: true }).finally(
    stopTelling,
  );
}

/** Warnings about the call and the server, as far as they are known now. */
export function notesSoFar({ unchecked, server }: Pick<Reached, 'unchecked' | 'server'>): readonly Warning[] {
  return [...server.notes().map(message => ({ message })), ...unchecked];
}

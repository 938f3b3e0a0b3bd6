import type { Log } from '../../../events/log.js';
import type { Warning } from '../../../protocol/requirements.js';
import type { Tool } from '../../../protocol/toolset.js';
import { checkArguments, toolOf } from '../../../runtime/check-call.js';
import type { Hearing } from '../../../runtime/mcp/client.js';
import { connectMcp, type McpServer, type McpTarget } from '../../../runtime/mcp/connection.js';
import type { McpPeer } from '../../../runtime/mcp/transports.js';
import type { Clock } from '../../../system/drafts.js';
import { formatDuration } from '../../../util/format-duration.js';
import { visibleLine } from '../../../util/visible.js';
import { readHeaders } from '../../target.js';
import { type OnStop, PROGRAM, type Terminal } from '../../terminal.js';
import { type InvokePlan, operationOf, readArguments } from '../plan.js';

/** As a RAP server has it, and no less than a program needs to start, whatever `--timeout` says; in ms. */
const START_MS = { most: 10_000, least: 2_000 };
/** Milliseconds after which a line says what the program waits for. */
const TELL_AFTER_MS = 3_000;

/** How long a server may take to start, to shake hands and to list its tools. */
interface Patience {
  readonly limitMs: number;
  /** Ms, at least 1. */
  readonly left: () => number;
}

/** @param timeoutMs of the call; 0 for no limit */
export function patience(timeoutMs: number, clock: Clock): Patience {
  const limitMs =
    timeoutMs === 0 ? START_MS.most : Math.min(START_MS.most, Math.max(START_MS.least, timeoutMs));
  const until = clock.now() + limitMs;
  return { limitMs, left: () => Math.max(1, until - clock.now()) };
}

/** Says what is waited for, unless that is over soon. Returns how to leave it. */
export function tellIfSlow(
  { kind, name }: McpPeer,
  { limitMs }: Patience,
  clock: Clock,
  write: (text: string) => unknown,
): () => void {
  const does = kind === 'stdio' ? 'starting the MCP server' : 'reaching the MCP server';
  const words = `${does}: ${visibleLine(name)} (it has ${formatDuration(limitMs)})\n`;
  return clock.after(TELL_AFTER_MS, () => void write(words));
}

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
  const { server: name, tools } = server;
  const tool = toolOf({ name, tools: [...tools] }, operationOf(plan));
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

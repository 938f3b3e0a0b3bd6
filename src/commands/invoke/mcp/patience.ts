import type { McpPeer } from '../../../runtime/mcp/explain.js';
import type { Clock } from '../../../system/clock.js';
import { formatDuration } from '../../../text/format-duration.js';
import { visibleLine } from '../../../text/visible.js';

/** As a RAP server has it, and no less than a program needs to start, whatever `--timeout` says; in ms. */
const START_MS = { most: 10_000, least: 2_000 };
/** After so long, in ms, it is told what is waited for. */
const TELL_AFTER_MS = 3_000;

/** How long a server may take to start, to shake hands and to list its tools. */
export interface Patience {
  readonly limitMs: number;
  /** Ms, at least 1. */
  readonly left: () => number;
}

/** @param timeoutMs of the call; 0 is none */
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

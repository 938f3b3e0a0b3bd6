import { cut } from '../../text/cut.js';
import { visibleLine } from '../../text/visible.js';
import type { LocalTool } from '../local/local-tool.js';

const LONGEST = 300;

/** Tells what the SDK makes of a client's messages, in short: it may quote them. */
export function teller(tool: Pick<LocalTool, 'warn'>): (error: Error) => void {
  return ({ message }) => tool.warn(`MCP: ${visibleLine(cut(message, LONGEST))}`);
}

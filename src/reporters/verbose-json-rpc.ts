import { cut } from '../text/cut.js';
import { safeJson } from '../text/json-safe.js';
import type { Redactor } from '../text/redact.js';
import { redactJson } from '../text/redact-json.js';

/** Characters of one message. */
const MOST = 64 * 1024;

const SIGNS = { sent: '>', received: '<' } as const;

/** `-v` on an MCP wire: each JSON-RPC message in a line, as it goes by; secrets out, foreign text safe. */
export function jsonRpcTeller(
  redactor: Redactor,
  write: (text: string) => unknown,
): (message: unknown, way: keyof typeof SIGNS) => void {
  return (message, way) => {
    const json = redactJson(safeJson(message), redactor);
    write(`${SIGNS[way]} ${cut(json, MOST)}\n`);
  };
}

import type { Step } from '../fixtures/reply-schema.js';
import type { ToolResult } from '../protocol/callbacks.js';

/** A global symbol: a handler's module may have loaded another copy of this library. */
const BRAND = Symbol.for('protocol-cli.output');

/**
 * The return value of a handler (seed 003), created by {@link payload}, {@link result} and the other constructors. The kinds are open:
 * an unknown kind is reported, and the call ends in an error result.
 * @example
 * const answer = (isKnown: boolean): ToolOutput => (isKnown ? payload({ ok: true }) : error('not found'));
 */
export interface ToolOutput {
  readonly kind: string;
}

/**
 * A value that the mock wraps, after response middleware: a string becomes the text, other JSON is encoded.
 * @example
 * const handle = () => payload({ edited: 2 });
 */
export function payload(value: unknown): ToolOutput {
  return output({ kind: 'payload', payload: value });
}

/**
 * A whole `tool_result`, verbatim: **it bypasses response middleware**, so the handler itself must redact and sanitize it (seed 003).
 * Missing `type` and ids are filled in.
 * @example
 * const handle = () => result({ text: 'done', display_as: [{ type: 'text', content: '2 files' }] });
 */
export function result(fields: Partial<ToolResult> & Readonly<Record<string, unknown>>): ToolOutput {
  return output({ kind: 'result', result: fields });
}

/**
 * An error; the text is `Error: message` (TOOL-ERRPREFIX).
 * @example
 * const handle = () => error('no such file');
 */
export function error(message: string): ToolOutput {
  return output({ kind: 'error', error: { message } });
}

/**
 * The call was canceled (seed 002).
 * @example
 * const handle = () => canceled('the window was closed', 'user');
 */
export function canceled(reason: string, by: 'user' | 'policy' | 'system' = 'system'): ToolOutput {
  return output({ kind: 'canceled', canceled: { reason, by } });
}

/**
 * The call took too long (seed 002).
 * @param durationMs how long it took, in milliseconds
 * @example
 * const handle = () => timeout(30_000);
 */
export function timeout(durationMs: number): ToolOutput {
  return output({ kind: 'timeout', timeout: { durationMs } });
}

/**
 * The call is not allowed (seed 002).
 * @param tool the name of the operation
 * @example
 * const handle = () => denied('delete_file', 'read only');
 */
export function denied(tool: string, reason: string): ToolOutput {
  return output({ kind: 'denied', denied: { tool, reason } });
}

/**
 * Sends nothing, to test how a runtime handles a missing result.
 * @example
 * const handle = () => silence();
 */
export function silence(): ToolOutput {
  return output({ kind: 'silence', silence: true });
}

type WithoutDelay<S> = S extends Step ? Omit<S, 'delay'> : never;

function output(step: WithoutDelay<Step>): ToolOutput {
  const marked = { [BRAND]: true, ...step };
  return marked;
}

/** Converts a handler's return value into a reply step; a plain value is a payload. */
export function stepOf(returned: unknown): Step {
  const isOutput = typeof returned === 'object' && returned !== null && BRAND in returned;
  // What another version of this library made may be no step that this one knows; the player reports it.
  return { delay: 0, ...(isOutput ? returned : payload(returned)) } as unknown as Step;
}

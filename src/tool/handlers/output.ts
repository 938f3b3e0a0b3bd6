import type { Step } from '../../fixtures/step.js';
import type { ToolResult } from '../../protocol/callbacks/index.js';

/** Known to every copy of this library: a handler's module may have loaded another one than the program. */
const BRAND: unique symbol = Symbol.for('protocol-cli.output') as never;

/**
 * How a handler answers (seed 003): made by {@link payload}, {@link result} and their like. The kinds are open: one that
 * this version does not know is reported, and the call ends in an error result.
 */
export interface ToolOutput {
  readonly [BRAND]: true;
  readonly kind: string;
}

/** A value that the mock wraps: through response middleware, then a string is the text, other JSON is encoded. */
export function payload(value: unknown): ToolOutput {
  return output({ kind: 'payload', payload: value });
}

/**
 * A whole `tool_result`, verbatim: **it bypasses response middleware**, so redaction and sanitising are the handler's own
 * (seed 003). `type` and the ids are filled in where they are absent.
 */
export function result(fields: Partial<ToolResult> & Readonly<Record<string, unknown>>): ToolOutput {
  return output({ kind: 'result', result: fields });
}

/** The text is `Error: message` (TOOL-ERRPREFIX). */
export function error(message: string): ToolOutput {
  return output({ kind: 'error', error: { message } });
}

/** The texts of seed 002. */
export function canceled(reason: string, by: 'user' | 'policy' | 'system' = 'system'): ToolOutput {
  return output({ kind: 'canceled', canceled: { reason, by } });
}

export function timeout(durationMs: number): ToolOutput {
  return output({ kind: 'timeout', timeout: { durationMs } });
}

export function denied(tool: string, reason: string): ToolOutput {
  return output({ kind: 'denied', denied: { tool, reason } });
}

/** Sends nothing at all: for trying what a runtime does then. */
export function silence(): ToolOutput {
  return output({ kind: 'silence' });
}

/** What a handler returned, as the step of a reply; a plain value is a payload. */
export function stepOf(returned: unknown): Step {
  const words = isOutput(returned) ? returned : payload(returned === undefined ? null : returned);
  return { delay: 0, ...words } as unknown as Step;
}

function output(step: { readonly kind: string } & Readonly<Record<string, unknown>>): ToolOutput {
  return { [BRAND]: true, ...step };
}

function isOutput(value: unknown): value is ToolOutput {
  return typeof value === 'object' && value !== null && BRAND in value;
}

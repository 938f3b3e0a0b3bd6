import type { Answer, AnsweredCall } from '../../dialects/dialect.js';
import type { PendingCall } from './pending-calls.js';

/**
 * Answers the calls of an agent session.
 * @example
 * const refusing: Answerer = {
 *   async answer({ id, tool, native }) {
 *     return { call: { id, tool, request: native }, outcome: { type: 'denied', tool, basis: 'ours' } };
 *   },
 * };
 */
export interface Answerer {
  /**
   * Answers a call. Calls that are pending together are passed concurrently. A thrown error becomes an `error_event` of the client.
   * @param context `signal` is aborted once the answer is not needed any more
   */
  answer(call: PendingCall, context: { readonly signal: AbortSignal }): Promise<Answer>;
}

/** Functions by tool name; each takes the arguments and returns the result. */
export type ToolFunctions = Readonly<
  Record<string, (args: PendingCall['args'], context: { readonly signal: AbortSignal }) => unknown>
>;

/**
 * Creates an answerer from functions; all other tools are unknown.
 * @example
 * const answerer = answerWith({ lookup_order: ({ order_id }) => `order ${order_id}: shipped` });
 */
export function answerWith(functions: ToolFunctions): Answerer {
  const tools = Object.keys(functions).map(name => ({ name }));
  return {
    async answer(call, context) {
      const work = Object.hasOwn(functions, call.tool) ? functions[call.tool] : undefined;
      if (!work) return unknownTool(call, tools);
      const payload = (await work(call.args, context)) ?? null; // this wire has no undefined
      return { call: answeredCall(call), outcome: { type: 'success', basis: 'declared' }, payload };
    },
  };
}

/** The call in the common form; the answer contains the whole original (seed 001). */
export function answeredCall({ id, tool, args, native }: PendingCall): AnsweredCall {
  return { id, tool, args, request: native };
}

/** An error of the client: the tool was not called, or failed to answer. */
export function clientError(call: PendingCall, message: string): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'error', message: message.toWellFormed(), origin: 'client', basis: 'ours' },
  };
}

export function unknownTool(call: PendingCall, tools: readonly { readonly name: string }[]): Answer {
  const names = tools.length > 0 ? ` Available: ${tools.map(({ name }) => name).join(', ')}.` : '';
  return clientError(call, `Unknown tool: ${call.tool}.${names}`);
}

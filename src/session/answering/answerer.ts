import type { Answer, AnsweredCall } from '../../dialects/dialect.js';
import type { PendingCall } from './pending-calls.js';

/** Who answers the calls of an agent session. */
export interface Answerer {
  /**
   * Calls of one wait come side by side. What it throws becomes an error of the client's.
   * @param context `signal` is aborted once nobody wants the answer any more
   */
  answer(call: PendingCall, context: { readonly signal: AbortSignal }): Promise<Answer>;
}

/** Functions by the name of their tool: each takes the arguments, and what it gives is the result. */
export type ToolFunctions = Readonly<
  Record<string, (args: PendingCall['args'], context: { readonly signal: AbortSignal }) => unknown>
>;

/** An answerer made of functions; a tool that is none of them is unknown. */
export function answerWith(functions: ToolFunctions): Answerer {
  return {
    async answer(call, context) {
      const work = Object.hasOwn(functions, call.tool) ? functions[call.tool] : undefined;
      return work
        ? successOf(call, await work(call.args, context))
        : unknownTool(call, Object.keys(functions));
    },
  };
}

/** The call in the one model's terms; its answer echoes it whole (seed 001). */
export function answeredCall({ id, tool, args, native }: PendingCall): AnsweredCall {
  return { id, tool, args, request: native };
}

/** A success; what is left out is null on this wire (platforms). */
export function successOf(call: PendingCall, payload: unknown): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'success', basis: 'declared' },
    payload: payload === undefined ? null : payload,
  };
}

/** What went wrong on our side: the tool was not asked, or could not answer. */
export function clientError(call: PendingCall, message: string): Answer {
  return {
    call: answeredCall(call),
    outcome: { type: 'error', message: message.toWellFormed(), origin: 'client', basis: 'ours' },
  };
}

/** @param names of the tools there are */
export function unknownTool(call: PendingCall, names: readonly string[]): Answer {
  const there = names.length > 0 ? ` There are: ${names.join(', ')}.` : '';
  return clientError(call, `Unknown tool: ${call.tool}.${there}`);
}

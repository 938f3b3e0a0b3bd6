import type { Call } from '../fixtures/fixture-set.js';
import type { Invocation } from '../protocol/invocation.js';
import type { Tool } from '../protocol/toolset.js';
import type { Conversation } from './conversation.js';
import type { Middlewares } from './middleware.js';
import { type Plan, planWithoutFaults } from './plan.js';
import { ReplyPlayer } from './reply-player.js';
import type { ArgumentsOf, JsonSchema } from './schema-types.js';
import { stepOf } from './tool-output.js';

/**
 * The context of a handler call: the invocation, its arguments typed by the schema, and an abort signal.
 * @example
 * const schema = { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] } as const;
 * const handle = ({ arguments: { path } }: HandlerInput<typeof schema>) => `renamed ${path}`;
 */
export type HandlerInput<S> = Omit<Invocation, 'arguments'> & {
  readonly arguments: ArgumentsOf<S>;
  /**
   * Aborted by `/cancel_tool_call`, `/close_thread` and the end of the tool; after a result with `subscription: true` also, until the
   * final event. A handler that ignores it is not waited for.
   */
  readonly signal: AbortSignal;
};

/**
 * Messages that a handler may send before it returns. Each promise resolves once the callback was delivered or dropped.
 * @example
 * const handle = async (_input: unknown, call: HandlerCall) => {
 *   const answer = await call.choice({ prompt: 'Overwrite?', choices: ['yes', 'no'], withinMs: 60_000 });
 *   return answer?.choice ?? 'not answered';
 * };
 */
export interface HandlerCall {
  event(
    event: string | { readonly text: string; readonly associative?: boolean; readonly final?: boolean },
  ): Promise<void>;
  view(view: {
    readonly view_type: string;
    readonly content: Readonly<Record<string, unknown>>;
  }): Promise<void>;
  /**
   * Asks the user to pick one. Resolves to the choice, or to null if no answer arrived within `withinMs` milliseconds or the call was
   * canceled.
   */
  choice(question: {
    readonly prompt: string;
    readonly choices: readonly string[];
    /** Index of the default choice. Default: 0. */
    readonly default?: number;
    readonly withinMs?: number;
  }): Promise<{ readonly selected: number; readonly choice: string } | null>;
  /** Asks the user for consent, on the mock's own page or at `authUrl`. Resolves to null as {@link choice} does. */
  oauth(question?: {
    readonly scopes?: readonly string[];
    readonly authUrl?: string;
    readonly withinMs?: number;
  }): Promise<'granted' | 'refused' | null>;
}

/**
 * An operation implemented in code.
 * @example
 * const ping: ToolDefinition = { name: 'ping', description: 'Answers', inputSchema: {}, handle: () => 'pong' };
 */
export interface ToolDefinition<S extends JsonSchema = JsonSchema> extends Omit<Tool, 'inputSchema'> {
  readonly inputSchema: S;
  /**
   * Carries out the call. A plain return value is a payload; use `payload`, `result` and the other constructors to be
   * explicit. An error that it throws becomes an error result with the message and without the stack.
   */
  handle(input: HandlerInput<S>, call: HandlerCall): unknown;
}

/**
 * Returns the definition unchanged; infers the type of `handle` from `inputSchema`.
 * @example
 * const rename = defineTool({
 *   name: 'rename_file',
 *   description: 'Renames a file',
 *   inputSchema: { type: 'object', properties: { path: { type: 'string' } }, required: ['path'] },
 *   handle: ({ arguments: { path } }) => `renamed ${path}`,
 * });
 */
export function defineTool<const S extends JsonSchema>(definition: ToolDefinition<S>): ToolDefinition<S> {
  return definition;
}

/** The parts of a conversation that a handler can use. */
function handlerCall(conversation: Conversation, operation: string): HandlerCall {
  const { call } = conversation;
  const isLate = (what: string, isOver = call.isClosed) => {
    if (isOver && !call.isCanceled) call.warn(`${what} was not sent: the call is over`);
    return isOver;
  };
  return {
    async event(event) {
      if (isLate('an event', call.isClosed || conversation.isFinal)) return;
      await conversation.event(typeof event === 'string' ? { text: event } : { ...event });
    },
    async view(view) {
      if (!isLate('a view')) await conversation.view({ ...view });
    },
    async choice({ prompt, choices, default: preset = 0, withinMs }) {
      if (choices[preset] === undefined)
        throw new RangeError('a choice needs choices, and its default must be the index of one of them');
      if (isLate('a choice')) return null;
      const { id } = call.caller.addressee;
      const selected = await conversation.choice({ prompt, choices, default: preset, id }, { withinMs });
      return selected === null ? null : { selected, choice: choices[selected] ?? '' };
    },
    async oauth({ scopes = [], authUrl, withinMs } = {}) {
      return isLate('a consent') ? null : conversation.consent({ operation, scopes }, { withinMs, authUrl });
    },
  };
}

export function handlerPlan(definition: ToolDefinition, call: Call, middlewares: Middlewares): Plan {
  const { invocation: given } = call;
  const { operation } = given; // read here: middleware may change `operation`
  const perform = async (conversation: Conversation) => {
    const { call: openCall } = conversation;
    const invocation = await middlewares.request(given);
    const input = { ...invocation, signal: openCall.signal };
    const handle = async () => ({
      returned: await definition.handle(input, handlerCall(conversation, operation)),
    });
    const outcome = await openCall.unlessCanceled(handle());
    if (outcome === null) return openCall.close(); // the handler ignores its signal: the call ends without it
    await new ReplyPlayer(conversation, middlewares, invocation).playStep(stepOf(outcome.returned));
  };
  return {
    ...planWithoutFaults([{ kind: 'matched', fixture: `handler:${operation}` }], perform),
    isOpenEnded: true,
    redact: message => middlewares.words(message, given).value,
  };
}

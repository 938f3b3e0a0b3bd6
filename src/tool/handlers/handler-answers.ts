import { type Plan, plain } from '../answers/plan.js';
import type { Call } from '../conversation/call.js';
import type { Conversation } from '../conversation/conversation.js';
import { playStep } from '../conversation/play.js';
import type { Middlewares } from '../middleware/middlewares.js';
import type { ToolDefinition } from './define-tool.js';
import { handlerCall } from './handler-call.js';
import { stepOf } from './output.js';

/** Answers calls by functions. */
export class HandlerAnswers {
  readonly #handlers: ReadonlyMap<string, ToolDefinition>;

  constructor(
    definitions: readonly ToolDefinition[],
    private readonly middlewares: Middlewares,
  ) {
    this.#handlers = new Map(definitions.map(definition => [definition.name, definition]));
  }

  answers(operation: string): boolean {
    return this.#handlers.has(operation);
  }

  plan(call: Call): Plan {
    const fixture = `handler:${call.invocation.operation}`;
    return {
      ...plain([{ kind: 'matched', fixture }], conversation => this.#perform(call, conversation)),
      isOpenEnded: true,
      words: message => this.middlewares.words(message, call.invocation).value,
    };
  }

  /** @throws what the handler throws: the error path is the same for all. */
  async #perform(call: Call, conversation: Conversation): Promise<void> {
    const invocation = await this.middlewares.request(call.invocation);
    const { operation } = call.invocation; // whatever middleware calls it
    const input = { ...invocation, signal: conversation.caller.callingOff.signal };
    const handling = outcomeOf(() =>
      this.#handlers.get(operation)?.handle(input, handlerCall(conversation, operation)),
    );
    const outcome = await conversation.waits.orCalledOff(handling);
    if (outcome === null) return conversation.close(); // it does not heed its signal: the call ends without it
    await playStep(stepOf(outcome()), {
      conversation,
      middlewares: this.middlewares,
      invocation,
      fill: tree => tree,
      say: words => words,
      delayOf: () => 0,
      enter: () => {},
    });
  }
}

/** What a handler returned or threw, to be had when it is wanted: where nobody wants it any more, that is no unhandled rejection. */
async function outcomeOf(handle: () => unknown): Promise<() => unknown> {
  try {
    const returned = await handle();
    return () => returned;
  } catch (error) {
    return () => {
      throw error;
    };
  }
}

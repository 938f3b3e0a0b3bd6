import type { Invocation } from '../../protocol/invocation.js';
import type { Tool } from '../../protocol/toolset.js';
import type { ArgumentsOf, JsonSchema } from './arguments-of.js';

/** What a handler gets: the invocation, its arguments typed by the schema, and when to stop. */
export type HandlerInput<S> = Omit<Invocation, 'arguments'> & {
  readonly arguments: ArgumentsOf<S>;
  /**
   * Aborted by `/cancel_tool_call`, `/close_thread` and the end of the tool; after a result with `subscription: true` as well, until
   * the final event. Who does not heed it is not waited for.
   */
  readonly signal: AbortSignal;
};

/** What a handler may say besides its return value. Each resolves once its callback was delivered or given up. */
export interface HandlerCall {
  event(
    event: string | { readonly text: string; readonly associative?: boolean; readonly final?: boolean },
  ): Promise<void>;
  view(view: {
    readonly view_type: string;
    readonly content: Readonly<Record<string, unknown>>;
  }): Promise<void>;
  /**
   * Asks the user to pick one. Resolves to what was picked; null where nobody answered within `withinMs` milliseconds
   * or the call was cancelled.
   */
  choice(question: {
    readonly prompt: string;
    readonly choices: readonly string[];
    /** An index; 0 unless told. */
    readonly default?: number;
    readonly withinMs?: number;
  }): Promise<{ readonly selected: number; readonly choice: string } | null>;
  /** Asks the user to allow something, on the mock's own consent page or at `authUrl`. Null as with {@link choice}. */
  oauth(question?: {
    readonly scopes?: readonly string[];
    readonly authUrl?: string;
    readonly withinMs?: number;
  }): Promise<'granted' | 'refused' | null>;
}

/** One operation in code. */
export interface ToolDefinition<S extends JsonSchema = JsonSchema> extends Omit<Tool, 'inputSchema'> {
  readonly inputSchema: S;
  /**
   * A plain value is a payload; {@link payload}, {@link result} and their like say it outright. What it throws becomes an
   * error result with the message, and no stack.
   */
  handle(input: HandlerInput<S>, call: HandlerCall): unknown;
}

/** Types `handle` by `inputSchema`; says nothing else. */
export function defineTool<const S extends JsonSchema>(definition: ToolDefinition<S>): ToolDefinition<S> {
  return definition;
}

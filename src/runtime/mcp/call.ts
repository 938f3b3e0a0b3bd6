import { Content } from '../../events/content.js';
import type { Exchange } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import { type Log, RecordedRequest } from '../../events/log.js';
import { type Elicitation, elicitationSchema } from '../../protocol/mcp.js';
import type { Clock } from '../../system/clock.js';
import { settlement } from '../runtime.js';
import type { Elicit, McpServer } from './connection.js';
import { failureOfMcp } from './failure.js';

interface McpCall {
  readonly id: string;
  readonly operation: string;
  readonly arguments: Record<string, unknown>;
  /** 0 for no limit. */
  readonly timeoutMs: number;
}

export interface FormAnswer {
  readonly by: 'person' | 'flag';
  readonly action: 'accept' | 'decline' | 'cancel';
  readonly content?: Readonly<Record<string, unknown>>;
  /** Index of the choice; see `questionOf`. */
  readonly selected: number;
}

interface McpOptions {
  readonly log: Log;
  /** Must be subscribed to `log`. */
  readonly history: History;
  readonly clock: Clock;
  /** Whether the time limit pauses while the user decides. */
  readonly pausesForUser: boolean;
  /** Answers the nth form of the call, from 0; null without an answer, which cancels the call. */
  readonly answer: (form: Elicitation, signal: AbortSignal, nth: number) => Promise<FormAnswer | null>;
}

/** MCP has no threads, so all calls of a connection use one. */
const THREAD = 'mcp';

/** Calls tools of an MCP server and records the calls. */
export class McpCalls {
  constructor(
    private readonly server: McpServer,
    private readonly options: McpOptions,
  ) {}

  deny(
    { id, operation: tool, arguments: args }: McpCall,
    { by, reason }: { readonly by: 'person' | 'policy'; readonly reason: string },
  ): Exchange {
    const body = Content.ofJson({ operation: tool, arguments: args, id });
    const about = { calls: [id], thread: THREAD };
    this.options.log.emit({ kind: 'denied', dialect: 'mcp', by, tool, reason, body, ...about });
    return this.#exchange(id);
  }

  /**
   * Sends `tools/call`, and resolves when the call is settled; canceling a call also cancels it on the server.
   * @returns the call, and the error if the connection failed
   */
  async call(call: McpCall): Promise<{ readonly exchange: Exchange; readonly error: unknown }> {
    const { log, history, clock, pausesForUser } = this.options;
    const { id, operation, timeoutMs } = call;
    const abort = new AbortController();
    const { signal } = abort;
    const over = settlement(log, history, clock, { key: id, timeoutMs, pausesForUser }).then(() =>
      abort.abort('the call was given up'),
    );
    const args = { arguments: call.arguments };
    const recorded = this.#record(id, 'tools/call', { operation, ...args, id });
    const onProgress = (progress: unknown) => void this.#record(id, 'notifications/progress', progress);
    let rejection: unknown;
    try {
      const result = await this.server.callTool(
        { name: operation, ...args },
        { signal, onProgress },
        this.#elicitation(id),
      );
      if (!signal.aborted) recorded.recordResponse(200, { body: Content.ofJson(result ?? null) });
    } catch (error) {
      if (!signal.aborted) recordFailure(recorded, error);
      rejection = error;
    }
    const isOpen = !signal.aborted && !history.exchanges.get(id)?.settled;
    if (isOpen) log.emit({ kind: 'decided', what: 'give-up', by: 'policy', calls: [id] });
    await over;
    return { exchange: this.#exchange(id), error: isOpen ? rejection : undefined };
  }

  /** Answers the forms of a call one at a time, and records each with its answer. */
  #elicitation(id: string): Elicit {
    let nth = 0;
    let before: Promise<unknown> = Promise.resolve();
    return (params, signal) => {
      const answered = before.then(() => this.#elicit(id, params, signal, () => nth++));
      before = answered.catch(() => {});
      return answered;
    };
  }

  async #elicit(id: string, params: unknown, signal: AbortSignal, nth: () => number) {
    const { log, history, answer } = this.options;
    const recorded = this.#record(id, 'elicitation/create', params);
    const form = elicitationSchema.safeParse(params);
    const calls = [id];
    const isOpen = history.exchanges.get(id)?.questions.some(({ leg }) => leg === recorded.leg) ?? false;
    const given = form.success && isOpen ? await answer(form.data, signal, nth()) : null;
    if (isOpen && !given && !history.exchanges.get(id)?.settled)
      log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls });
    if (given) {
      const { by, selected: value } = given;
      log.emit({ kind: 'decided', what: 'choice', by, value, question: recorded.leg, calls });
    }
    const { action = 'cancel', content } = given ?? {};
    const result = { action, ...(content && { content }) };
    recorded.recordResponse(200, { body: Content.ofJson(result) });
    return result;
  }

  /** Records our request, or a message of the server. */
  #record(id: string, method: string, content: unknown): RecordedRequest {
    const { server } = this;
    const route =
      method === 'tools/call'
        ? ({ from: 'client', to: 'tool', purpose: 'invocation', headers: { ...server.headers } } as const)
        : ({ from: 'tool', to: 'client', purpose: 'callback', headers: {} } as const);
    const about = { ...route, url: server.endpoint, calls: [id], thread: THREAD };
    return new RecordedRequest(this.options.log, {
      ...about,
      dialect: 'mcp',
      method,
      body: Content.ofJson(content),
    });
  }

  #exchange(id: string): Exchange {
    const exchange = this.options.history.exchanges.get(id);
    if (!exchange) throw new Error('the history must be subscribed to the log');
    return exchange;
  }
}

/** Records a JSON-RPC error as the result. */
function recordFailure(recorded: RecordedRequest, error: unknown): void {
  const { kind: _, ...failure } = failureOfMcp(error);
  if ('phase' in failure) recorded.recordBroken(failure.phase, failure.code);
  else if ('status' in failure)
    recorded.recordResponse(failure.status, { body: new Content(Buffer.from(failure.text)) });
  else recorded.recordResponse(200, { body: Content.ofJson({ error: failure }) });
}

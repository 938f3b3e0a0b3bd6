import { randomUUID } from 'node:crypto';
import { type Answerer, answeredCall, unknownTool } from '../../agent-session/client/answerer.js';
import type { PendingCall } from '../../agent-session/client/pending-calls.js';
import type { Answer } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { checkArguments } from '../../runtime/check-call.js';
import { Runtime } from '../../runtime/runtime.js';
import { type DiscoveredToolset, Wire } from '../../runtime/wire.js';
import { parseJson } from '../../util/json.js';
import type { Denial, ToolInfo } from '../consent.js';
import type { Chooser } from '../invoke/questions.js';
import type { Run } from '../run.js';

/** The RAP tool of `--tool`. */
export interface ToolSource {
  readonly kind: 'tool';
  readonly url: string;
  /** Sent to the tool's own origin only. */
  readonly headers: Readonly<Record<string, string>>;
  readonly listener: ListenerOptions;
}

/** The options for each call. */
export interface CallFlags {
  readonly seed?: string;
  /** Milliseconds; 0 waits forever. */
  readonly timeout: number;
  readonly parseJson?: true;
  readonly validate: boolean;
  readonly retries: number;
  readonly lenientAck?: true;
}

/** Returns why a call is denied; null if it is allowed. */
export type DenialOf = (tool: ToolInfo, args: unknown) => Promise<Denial | null>;

export interface AnswererOptions {
  readonly run: Run;
  /** The id of the session. */
  readonly session: string;
  readonly history: History;
  readonly flags: CallFlags;
  readonly chooser: Chooser;
  readonly denial: DenialOf;
}

const HINTS = {
  locked: 'Give a token with --tool-bearer <token | env:NAME>, or a header with --tool-header.',
  missing:
    'Give the base URL of the tool server to --tool: its endpoint alone does not say which tools there are.',
};

/** @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset`, `port-in-use`, `usage`. */
export async function openRapTool({ url, headers, listener }: ToolSource, options: AnswererOptions) {
  const { run, history } = options;
  const { log, clock, redactor } = run;
  const wire = run.keepNamesOf(new Wire(log, run.openClient(), url, headers), { kind: 'url', url });
  const discovered = await run.interrupted.race(wire.discover(HINTS, options.flags.timeout));
  const runtime = await Runtime.start({ log, history, clock, listener, onSecret: redactor.add });
  run.onStop(() => runtime.close());
  const tool = new RapTool(options, wire, discovered, runtime);
  run.onStop(() => tool.close());
  return tool;
}

/** Converts each call of the session to an invocation with the same id, all in one thread. */
class RapTool implements Answerer {
  /** Warnings from before the first call. */
  readonly notes: readonly Warning[];
  readonly #thread = `thread_${randomUUID()}`;
  readonly #underWay = new Set<Promise<unknown>>();
  #wasCalled = false;

  constructor(
    private readonly options: AnswererOptions,
    private readonly wire: Wire,
    private readonly discovered: DiscoveredToolset,
    private readonly runtime: Runtime,
  ) {
    this.notes = [
      ...discovered.notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...wire.withheldFrom(discovered.toolset.endpoint),
    ];
  }

  answer(call: PendingCall, { signal }: { readonly signal: AbortSignal }): Promise<Answer> {
    return this.#watched(this.#answer(call, signal));
  }

  /** Waits until canceled calls have ended, and closes the thread. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    if (this.#wasCalled) await this.wire.closeThread(this.#thread);
  }

  /** @throws ProtocolCliError `invalid-arguments`: the client's error (RT-ARGS). */
  async #answer(call: PendingCall, signal: AbortSignal): Promise<Answer> {
    const { parseJson: parsesJson, validate } = this.options.flags;
    const { tools } = this.discovered.toolset;
    const tool = tools.find(({ name }) => name === call.tool);
    if (!tool) return unknownTool(call, tools);
    if (validate) for (const { message } of await checkArguments(tool, call.args)) this.#warn(call, message);
    const answer = answerOfExchange(call, await this.#exchange(tool, call, signal));
    return parsesJson ? this.#parsed(call, answer) : answer;
  }

  /** Parses a text that is JSON; returns it unchanged, with a warning, if parsing loses data (a huge number, a duplicate key). */
  #parsed(call: PendingCall, answer: Answer): Answer {
    const { outcome, payload } = answer;
    const reading = outcome.type === 'success' && typeof payload === 'string' ? parseJson(payload) : null;
    if (!reading?.ok) return answer;
    for (const note of reading.notes)
      this.#warn(call, `${call.tool}: the text was not parsed as JSON, which would change it: ${note}`);
    return reading.notes.length > 0 ? answer : { ...answer, payload: reading.value };
  }

  #warn({ key }: PendingCall, message: string): void {
    const { run, session } = this.options;
    run.log.emit({ kind: 'warned', calls: [key], thread: session, message });
  }

  async #exchange(tool: Tool, call: PendingCall, signal: AbortSignal): Promise<Exchange> {
    const { run, denial, flags, chooser } = this.options;
    const key = call.key; // events of both sides share this key
    const denied = await denial(tool, call.args);
    const ids = { id: key, call_id: null, group_id: this.#thread };
    const invocation = this.runtime.addressed({ operation: tool.name, arguments: call.args, ...ids });
    if (denied) return this.runtime.deny(invocation, denied);
    this.#wasCalled = true;
    const cancel = (by: 'person' | 'policy') =>
      run.log.emit({ kind: 'decided', what: 'cancel', by, calls: [key] });
    const cancelByPerson = () => cancel('person');
    signal.addEventListener('abort', cancelByPerson);
    if (signal.aborted) cancelByPerson();
    const exchange = await this.runtime.invoke(
      this.wire,
      {
        endpoint: this.discovered.toolset.endpoint,
        invocation,
        timeoutMs: flags.timeout,
        retries: flags.retries,
        lenientAck: flags.lenientAck ?? false,
        pausesForUser: chooser.prompts.canAsk,
        stopWaiting: pending => chooser.isLeftOpen(pending),
      },
      chooser,
    );
    signal.removeEventListener('abort', cancelByPerson);
    if (!exchange.settled) cancel('policy'); // the question cannot be answered
    void this.#watched(this.#leave(exchange));
    return exchange;
  }

  /** Cancels a call that was given up, or a subscription: sessions do not support its events. */
  async #leave(exchange: Exchange): Promise<void> {
    const latest = this.options.history.exchanges.get(exchange.key) ?? exchange;
    await this.wire.endCall(latest, { isOurThread: false, closes: false });
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
    return watched;
  }
}

/**
 * Converts the outcome of an exchange to the answer to a session's call: the result is a string; any outcome but success is an error.
 * @throws Error of the client: the tool did not answer
 */
function answerOfExchange(call: PendingCall, exchange: Exchange): Answer {
  const { settled } = exchange;
  const outcome = outcomeOf(exchange);
  if (!settled || !outcome) throw new Error(failureOf(exchange)?.message ?? 'the tool did not answer');
  if (settled.by === 'result') {
    const reading = readAs('rap', settled.native);
    return { ...(reading.ok ? reading.answer : { outcome }), call: answeredCall(call) };
  }
  if (outcome.type === 'error') throw new Error(outcome.message);
  return { call: answeredCall(call), outcome };
}

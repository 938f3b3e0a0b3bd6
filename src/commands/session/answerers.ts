import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import type { History } from '../../events/history.js';
import type { ChoiceQuestion } from '../../mock/conversation.js';
import { answerOfLocal, type LocalTool, type SpokenReply, startLocalTool } from '../../mock/local-tool.js';
import { fixtureFiles, loadHandlers } from '../../mock/sources.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import type { ListenerOptions } from '../../runtime/callback-server.js';
import { checkArguments, type Discovered, discover } from '../../runtime/discover.js';
import { closeThread, endCall, type Wire } from '../../runtime/notices.js';
import type { Governed } from '../../runtime/policy.js';
import { Runtime } from '../../runtime/runtime.js';
import {
  type Answerer,
  answeredCall,
  clientError,
  type PendingCall,
  unknownTool,
} from '../../session/client/pending-calls.js';
import { parseJson } from '../../util/json.js';
import { answeringWith, type Chooser, type Denial, isLeftOpen, pickedByFlag } from '../invoke/questions.js';
import { loadFixtures } from '../mock-tool/fixtures.js';
import type { Run } from '../run.js';
import { withheld } from '../target.js';
import { canAskUser } from '../terminal.js';

/** What answers the calls. */
export type Source =
  | {
      readonly kind: 'tool';
      readonly url: string;
      /** Sent to the tool's own origin only. */
      readonly headers: Readonly<Record<string, string>>;
      readonly listener: ListenerOptions;
    }
  | { readonly kind: 'local'; readonly fixtures: readonly string[]; readonly handlers: string | null };

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

export interface AnswererOptions {
  readonly run: Run;
  /** The id of the session. */
  readonly session: string;
  readonly history: History;
  readonly flags: CallFlags;
  readonly chooser: Chooser;
  /** Returns why a call is denied; null if it is allowed. */
  readonly denial: (tool: Governed, args: unknown) => Promise<Denial | null>;
}

/** An answerer that was started for one session, and is stopped with the run. */
export interface StartedAnswerer extends Answerer {
  /** Warnings from before the first call. */
  readonly notes: readonly Warning[];
}

/** @throws ProtocolCliError if the answerer cannot be started. */
export function openAnswerer(source: Source, options: AnswererOptions): Promise<StartedAnswerer> {
  return source.kind === 'tool' ? openRapTool(source, options) : openLocalTool(source, options);
}

const HINTS = {
  locked: 'Give a token with --tool-bearer <token | env:NAME>, or a header with --tool-header.',
  missing:
    'Give the base URL of the tool server to --tool: its endpoint alone does not say which tools there are.',
};

type ToolSource = Extract<Source, { kind: 'tool' }>;

/** @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset`, `port-in-use`, `usage`. */
async function openRapTool({ url, headers, listener }: ToolSource, options: AnswererOptions) {
  const { run, history } = options;
  const { log, clock } = run;
  const client = run.openClient();
  const wire = { client, log, credentials: { origin: new URL(url).origin, headers } };
  const discovered = await run.interrupted.race(discover(wire, url, HINTS, options.flags.timeout));
  const runtime = await Runtime.start({ log, history, clock, listener });
  run.onStop(() => runtime.close());
  const tool = new RapTool(options, wire, discovered, runtime);
  run.onStop(() => tool.close());
  return tool;
}

/** Converts each call of the session to an invocation with the same id, all in one thread. */
class RapTool implements StartedAnswerer {
  readonly notes: StartedAnswerer['notes'];
  readonly #thread = `thread_${randomUUID()}`;
  readonly #underWay = new Set<Promise<unknown>>();
  #wasCalled = false;

  constructor(
    private readonly options: AnswererOptions,
    private readonly wire: Wire,
    private readonly discovered: Discovered,
    private readonly runtime: Runtime,
  ) {
    this.notes = [
      ...discovered.notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...withheld(wire.credentials, discovered.toolset.endpoint),
    ];
  }

  answer(call: PendingCall, { signal }: { readonly signal: AbortSignal }): Promise<Answer> {
    return this.#watched(this.#answer(call, signal));
  }

  /** Waits until canceled calls have ended, and closes the thread. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    if (this.#wasCalled) await closeThread(this.wire, this.discovered.base, this.#thread);
  }

  /** @throws ProtocolCliError `invalid-arguments`: the client's error (RT-ARGS). */
  async #answer(call: PendingCall, signal: AbortSignal): Promise<Answer> {
    const { parseJson: parsesJson, validate } = this.options.flags;
    const { tools } = this.discovered.toolset;
    const tool = tools.find(({ name }) => name === call.tool);
    if (!tool) return noSuchTool(call, tools);
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
    const { invocation, token } = this.runtime.address({
      ...{ operation: tool.name, arguments: call.args, id: key, call_id: null, group_id: this.#thread },
    });
    run.redactor.add(token);
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
        waitsForPeople: canAskUser(run.terminal),
        leave: pending => isLeftOpen(pending, chooser),
      },
      answeringWith(chooser),
    );
    signal.removeEventListener('abort', cancelByPerson);
    if (!exchange.settled) cancel('policy'); // the question cannot be answered
    void this.#watched(this.#leave(exchange));
    return exchange;
  }

  /** Cancels a call that was given up, or a subscription: sessions do not support its events. */
  async #leave(exchange: Exchange): Promise<void> {
    const { wire, discovered, options } = this;
    const latest = options.history.exchanges.get(exchange.key) ?? exchange;
    const staying = { isOurThread: false, closes: false, listenOn: async () => {} };
    await endCall(latest, { wire, base: discovered.base, ...staying });
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
    return watched;
  }
}

/**
 * Converts the outcome of an exchange to the answer to a session's call: the result is a string; any outcome but success is an error
 * (platforms).
 */
function answerOfExchange(call: PendingCall, exchange: Exchange): Answer {
  const { settled } = exchange;
  const outcome = outcomeOf(exchange);
  if (!settled || !outcome)
    return clientError(call, failureOf(exchange)?.message ?? 'the tool did not answer');
  if (settled.by === 'result') {
    const reading = readAs('rap', settled.native);
    return { ...(reading.ok ? reading.answer : { outcome }), call: answeredCall(call) };
  }
  return outcome.type === 'error'
    ? clientError(call, outcome.message)
    : { call: answeredCall(call), outcome };
}

/** Returns the answer for an unknown tool, with the available names. */
function noSuchTool(call: PendingCall, tools: readonly Tool[]): Answer {
  return unknownTool(
    call,
    tools.map(({ name }) => name),
  );
}

/**
 * Answers from fixtures and handlers, in this process.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`, `invalid-toolset`.
 */
async function openLocalTool(
  { fixtures: files, handlers: module }: Extract<Source, { kind: 'local' }>,
  options: AnswererOptions,
): Promise<StartedAnswerer> {
  const { run, flags, chooser } = options;
  const { terminal, clock, log } = run;
  const { seed } = flags;
  const { choose } = chooser;
  if (module !== null) terminal.hostsCode();
  const handlers = module === null ? {} : await loadHandlers(module, terminal.cwd);
  const loaded = files.length === 0 ? null : await loadFixtures(await fixtureFiles(files));
  const tool = await startLocalTool({
    ...(loaded && { fixtures: loaded.fixtures }),
    ...handlers,
    ...{ clock, log },
    ...(seed !== undefined && { seed }),
    ...(choose !== undefined && { choose: picking(choose) }),
  });
  run.onStop(() => tool.close({ drainMs: 0 }));
  return {
    notes: (loaded?.warnings ?? []).map(message => ({ message })),
    answer: (call, { signal }) => answerLocally(tool, call, options, signal),
  };
}

/** Answers the questions of a call with `--choose`. */
function picking(choose: readonly string[]): (question: ChoiceQuestion) => Promise<number | null> {
  const asked = new Map<string, number>();
  return async question => {
    const nth = asked.get(question.id) ?? 0;
    asked.set(question.id, nth + 1);
    return pickedByFlag(choose, question, nth);
  };
}

async function answerLocally(
  tool: LocalTool,
  call: PendingCall,
  { run, denial, session, flags }: AnswererOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const { tools } = tool.toolset;
  const called = tools.find(({ name }) => name === call.tool);
  if (!called) return noSuchTool(call, tools);
  const denied = await denial(called, call.args);
  const about = { calls: [call.key], thread: session };
  if (denied) {
    run.log.emit({ kind: 'denied', tool: call.tool, ...denied, ...about });
    const { reason } = denied;
    return { call: answeredCall(call), outcome: { type: 'denied', tool: call.tool, reason, basis: 'ours' } };
  }
  const { timeout: ms } = flags;
  const reply = await replyWithin(ms, tool, call, { run, session, signal });
  if (reply) return answerOfLocal(answeredCall(call), reply);
  run.log.emit({ kind: 'expired', what: 'timeout', afterMs: ms, ...about });
  return { call: answeredCall(call), outcome: { type: 'timeout', durationMs: ms, basis: 'ours' } };
}

/** Returns null on timeout; the call is then aborted. A fixture without a reply always times out. @param ms 0 for no limit */
async function replyWithin(
  ms: number,
  tool: LocalTool,
  { key, tool: operation, args }: PendingCall,
  { run, session, signal }: Pick<AnswererOptions, 'run' | 'session'> & { readonly signal: AbortSignal },
): Promise<SpokenReply | null> {
  const over = new AbortController();
  let stop = () => {};
  const late = new Promise<null>(resolve => {
    const end = () => {
      resolve(null);
      over.abort();
    };
    if (ms > 0) stop = run.clock.after(ms, end);
  });
  const within = AbortSignal.any([signal, over.signal]);
  const call = { operation, arguments: args, id: key, key, groupId: session, signal: within };
  const reply = tool.call(call).then(each => (each.kind === 'silence' ? new Promise<never>(() => {}) : each));
  return Promise.race([reply, late]).finally(() => stop());
}

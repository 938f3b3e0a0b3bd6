import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import type { ChoiceQuestion } from '../../mock/conversation.js';
import { fixtureFiles } from '../../mock/fixture-files.js';
import { loadHandlers } from '../../mock/load-handlers.js';
import { answerOfLocal, type LocalTool, type SpokenReply, startLocalTool } from '../../mock/local-tool.js';
import type { Invocation } from '../../protocol/read-invocation.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import { checkArguments } from '../../runtime/check-call.js';
import { type Discovered, discover } from '../../runtime/discover.js';
import { closeThread, takeLeave, type Wire } from '../../runtime/notices.js';
import { type Answering, answerQuestions, Runtime } from '../../runtime/runtime.js';
import {
  answeredCall,
  clientError,
  type PendingCall,
  unknownTool,
} from '../../session/client/pending-calls.js';
import type { Clock } from '../../system/clock.js';
import { parseJson } from '../../util/json.js';
import { answeringWith, type Chooser, isLeftOpen, pickedByFlag } from '../invoke/questions.js';
import { type LoadedFixtures, loadFixtures } from '../mock-tool/fixtures.js';
import { isSomebodyThere } from '../terminal.js';
import { type AnswerPlan, listenerOf, type Setting, type ToolAnswerer, toolHeaders } from './answer-plan.js';

/** Starts what answers the calls. @throws ProtocolCliError if it cannot be started. */
export function openAnswerer(setting: Setting): Promise<ToolAnswerer> {
  const { source } = setting.plan;
  return source.kind === 'tool' ? openRapTool(source.url, setting) : openLocalTool(source, setting);
}

/** The answer to a call whose tool does not exist, with the names of those that do. */
function noSuchTool(call: PendingCall, tools: readonly Tool[]): Answer {
  return unknownTool(
    call,
    tools.map(({ name }) => name),
  );
}

/**
 * The answer to a session's call, from the exchange with the tool: its text is the result, as a string; any outcome but success is an
 * error (platforms).
 */
export function answerOfExchange(call: PendingCall, exchange: Exchange): Answer {
  const { settled } = exchange;
  const outcome = outcomeOf(exchange);
  if (!settled || !outcome)
    return clientError(call, failureOf(exchange)?.message ?? 'the tool did not answer');
  if (settled.by !== 'result')
    return outcome.type === 'error'
      ? clientError(call, outcome.message)
      : { call: answeredCall(call), outcome };
  const reading = readAs('rap', settled.native);
  return { ...(reading.ok ? reading.answer : { outcome }), call: answeredCall(call) };
}

/** A text that is JSON, as that JSON; as it is, with notes, if reading would change it (a number too large, a key twice). */
export function withParsedText(answer: Answer): {
  readonly answer: Answer;
  readonly notes: readonly string[];
} {
  const { outcome, payload } = answer;
  const reading = outcome.type === 'success' && typeof payload === 'string' ? parseJson(payload) : null;
  if (!reading?.ok) return { answer, notes: [] };
  const { notes, value } = reading;
  return { answer: notes.length > 0 ? answer : { ...answer, payload: value }, notes };
}

const HINTS = {
  locked: 'Give a token with --tool-bearer <token | env:NAME>, or a header with --tool-header.',
  missing:
    'Give the base URL of the tool server to --tool: its endpoint alone does not say which tools there are.',
};

/** @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset`, `port-in-use`, `usage`. */
async function openRapTool(url: string, setting: Setting): Promise<ToolAnswerer> {
  const { plan, terminal, client, clock, observation, interrupted, onStop } = setting;
  const { log, known } = observation;
  const headers = toolHeaders(plan, terminal);
  const wire = { client, log, credentials: { origin: new URL(url).origin, headers } };
  const discovered = await interrupted.race(discover(wire, url, HINTS));
  const runtime = await Runtime.start({ log, history: known.history, clock, listener: listenerOf(plan) });
  onStop(() => runtime.close());
  return new RapTool(setting, wire, discovered, runtime);
}

/** Each call of the session becomes an invocation with the same id, all of them in one thread. */
class RapTool implements ToolAnswerer {
  readonly notes: ToolAnswerer['notes'];
  readonly #thread = `thread_${randomUUID()}`;
  readonly #chooser: Chooser;
  readonly #answering: Answering;
  readonly #underWay = new Set<Promise<unknown>>();
  #wasCalled = false;

  constructor(
    private readonly setting: Setting,
    private readonly wire: Wire,
    private readonly discovered: Discovered,
    private readonly runtime: Runtime,
  ) {
    const { plan, terminal, interrupted, observation } = setting;
    const { reporter } = observation;
    const aside: Chooser['aside'] = work => reporter.aside?.(work) ?? work();
    const { choose } = plan.flags;
    this.#chooser = { choose, pick: reporter.choose, terminal, signal: interrupted.signal, aside };
    this.#answering = answeringWith(this.#chooser);
    const { headers, origin } = wire.credentials;
    const { endpoint } = discovered.toolset;
    const names = Object.keys(headers);
    const isWithheld = names.length > 0 && new URL(endpoint).origin !== origin;
    const withheld = `the endpoint ${endpoint} is on another origin than ${origin}: ${names.join(', ')} withheld from it`;
    this.notes = [
      ...discovered.notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
      ...(isWithheld ? [{ message: withheld }] : []),
    ];
  }

  answer(call: PendingCall, { signal }: { readonly signal: AbortSignal }): Promise<Answer> {
    return this.#watched(this.#answer(call, signal));
  }

  /** Cancels the calls that were given up, and closes the thread. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    if (this.#wasCalled) await closeThread(this.wire, this.discovered.base, this.#thread);
  }

  /** @throws ProtocolCliError `invalid-arguments`: the client's error (RT-ARGS). */
  async #answer(call: PendingCall, signal: AbortSignal): Promise<Answer> {
    const { parseJson: parsesJson, validate } = this.setting.plan.flags;
    const { tools } = this.discovered.toolset;
    const tool = tools.find(({ name }) => name === call.tool);
    if (!tool) return noSuchTool(call, tools);
    if (validate) for (const { message } of await checkArguments(tool, call.args)) this.#warn(call, message);
    const answer = answerOfExchange(call, await this.#exchange(tool, call, signal));
    if (!parsesJson) return answer;
    const parsed = withParsedText(answer);
    for (const note of parsed.notes)
      this.#warn(call, `${call.tool}: the text was not parsed as JSON, which would change it: ${note}`);
    return parsed.answer;
  }

  #warn({ key }: PendingCall, message: string): void {
    const { observation, plan } = this.setting;
    observation.log.emit({ kind: 'warned', calls: [key], thread: plan.id, message });
  }

  async #exchange(tool: Tool, call: PendingCall, signal: AbortSignal): Promise<Exchange> {
    const denial = await this.setting.governing(tool, call.args);
    const { invocation, token } = this.runtime.address({
      operation: tool.name,
      arguments: call.args,
      id: call.key, // joins both sides in every event
      call_id: null,
      group_id: this.#thread,
    });
    this.setting.observation.redactor.add(token);
    if (denial) return this.runtime.deny(invocation, denial);
    this.#wasCalled = true;
    return this.#invoke(invocation, signal);
  }

  async #invoke(invocation: Invocation, signal: AbortSignal): Promise<Exchange> {
    const { wire, runtime, discovered } = this;
    const { plan, observation, terminal, clock } = this.setting;
    const { known, log } = observation;
    const { timeout: timeoutMs, retries, lenientAck = false } = plan.flags;
    const key = invocation.id;
    const stopAnswering = answerQuestions(wire, known.history, invocation, this.#answering, clock);
    const cancel = () => log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] });
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    const exchange = await runtime.invoke(wire, {
      endpoint: discovered.toolset.endpoint,
      ...{ invocation, timeoutMs, retries, lenientAck },
      waitsForPeople: isSomebodyThere(terminal),
      leave: pending => isLeftOpen(pending, this.#chooser),
    });
    signal.removeEventListener('abort', cancel);
    await stopAnswering();
    if (!exchange.settled) log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] }); // its question stays unanswered
    void this.#watched(this.#leave(known.history.exchanges.get(key) ?? exchange));
    return exchange;
  }

  /** Cancels a call that was given up, and a subscription: no session takes its events. */
  async #leave(exchange: Exchange): Promise<void> {
    const { wire, discovered } = this;
    const { base } = discovered;
    await takeLeave(exchange, { wire, base, isOurThread: false, closes: false, listenOn: async () => {} });
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
    return watched;
  }
}

/**
 * Answers from fixtures and handlers, in this process.
 * @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`, `invalid-toolset`.
 */
async function openLocalTool(
  { fixtures: files, handlers: module }: Extract<AnswerPlan['source'], { kind: 'local' }>,
  setting: Setting,
): Promise<ToolAnswerer> {
  const { plan, terminal, clock, observation } = setting;
  const { seed, choose } = plan.flags;
  if (module !== null) terminal.hostsCode();
  const loaded = module === null ? {} : await loadHandlers(module, terminal.cwd);
  const { warnings = [], ...fixtures }: Partial<LoadedFixtures> =
    files.length === 0 ? {} : await loadFixtures(await fixtureFiles(files));
  const tool = await startLocalTool({
    ...fixtures,
    ...loaded,
    clock,
    log: observation.log,
    ...(seed !== undefined && { seed }),
    ...(choose !== undefined && { choose: picking(choose) }),
  });
  return {
    notes: warnings.map(message => ({ message })),
    close: () => tool.close({ drainMs: 0 }),
    answer: (call, { signal }) => answerLocally(tool, call, setting, signal),
  };
}

/** `--choose`, for the questions of each call. */
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
  { governing, plan, observation: { log }, clock }: Setting,
  signal: AbortSignal,
): Promise<Answer> {
  const { tools } = tool.toolset;
  const called = tools.find(({ name }) => name === call.tool);
  if (!called) return noSuchTool(call, tools);
  const denial = await governing(called, call.args);
  const about = { calls: [call.key], thread: plan.id };
  if (denial) {
    const { by, reason } = denial;
    log.emit({ kind: 'denied', by, tool: call.tool, reason, ...about });
    return { call: answeredCall(call), outcome: { type: 'denied', tool: call.tool, reason, basis: 'ours' } };
  }
  const { timeout: ms } = plan.flags;
  const reply = await withinTime({ clock, ms, signal }, within => replyOf(tool, call, plan.id, within));
  if (reply) return answerOfLocal(answeredCall(call), reply);
  log.emit({ kind: 'expired', what: 'timeout', afterMs: ms, ...about });
  return { call: answeredCall(call), outcome: { type: 'timeout', durationMs: ms, basis: 'ours' } };
}

interface TimeLimit {
  readonly clock: Clock;
  /** 0: unlimited. */
  readonly ms: number;
  readonly signal: AbortSignal;
}

/** The result of the work; null if it takes too long. Its signal, which follows the given one, is then aborted. */
async function withinTime<T>(
  { clock, ms, signal }: TimeLimit,
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T | null> {
  if (ms === 0) return work(signal);
  const over = new AbortController();
  let cancel = () => {};
  const late = new Promise<null>(resolve => {
    cancel = clock.after(ms, () => {
      resolve(null);
      over.abort();
    });
  });
  return Promise.race([work(AbortSignal.any([signal, over.signal])), late]).finally(cancel);
}

/** Never resolves if the fixture says nothing. */
async function replyOf(
  tool: LocalTool,
  { key, tool: operation, args }: PendingCall,
  groupId: string,
  signal: AbortSignal,
): Promise<SpokenReply> {
  const reply = await tool.call({ operation, arguments: args, id: key, key, groupId, signal });
  return reply.kind === 'silence' ? new Promise(() => {}) : reply;
}

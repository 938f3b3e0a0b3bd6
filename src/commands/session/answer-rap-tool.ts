import { randomUUID } from 'node:crypto';
import type { Answer } from '../../dialects/dialect.js';
import { readAs } from '../../dialects/dialects.js';
import { type Exchange, outcomeOf } from '../../events/exchange.js';
import type { Tool } from '../../protocol/toolset.js';
import { failureOf } from '../../render/failure.js';
import { checkArguments } from '../../runtime/check-call.js';
import { type Discovered, discover } from '../../runtime/discover.js';
import { closeThread, type Wire } from '../../runtime/notices.js';
import { type Answering, answerQuestions, Runtime } from '../../runtime/runtime.js';
import {
  answeredCall,
  clientError,
  type PendingCall,
  unknownTool,
} from '../../session/client/pending-calls.js';
import { parseJson } from '../../util/json.js';
import { takeLeave } from '../invoke/discover.js';
import { answeringWith, type Chooser, isLeftOpen } from '../invoke/questions.js';
import { isSomebodyThere } from '../terminal.js';
import { toolHeaders } from './answer-output.js';
import { listenerOf } from './answer-plan.js';
import type { Setting, ToolAnswerer } from './answer-tools.js';

/**
 * What a tool made of a call, for the session that asked: its text is the result, as the string it is, and an outcome other than
 * success is an error (platforms).
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

/**
 * A result whose text is JSON, as that JSON; one that would not survive it (a number too large to hold, a key twice) stays the text
 * it is, with notes.
 */
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

interface Parts {
  readonly setting: Setting;
  readonly wire: Wire;
  readonly discovered: Discovered;
  readonly runtime: Runtime;
}

const HINTS = {
  locked: 'Give a token with --tool-bearer <token | env:NAME>, or a header with --tool-header.',
  missing:
    'Give the base URL of the tool server to --tool: its endpoint alone does not say which tools there are.',
};

/**
 * A RAP tool as who answers: each call becomes an invocation with the call's own id, all of them in one thread.
 * @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset`, `port-in-use`, `usage`.
 */
export async function openRapTool(url: string, setting: Setting): Promise<ToolAnswerer> {
  const { plan, terminal, client, clock, observation, interrupted, onStop } = setting;
  const { log, known } = observation;
  const headers = toolHeaders(plan, terminal);
  const wire = { client, log, credentials: { origin: new URL(url).origin, headers } };
  const discovered = await interrupted.race(discover(wire, url, HINTS));
  const runtime = await Runtime.start({ log, history: known.history, clock, listener: listenerOf(plan) });
  onStop(() => runtime.close());
  return new RapTool({ setting, wire, discovered, runtime });
}

class RapTool implements ToolAnswerer {
  readonly notes: ToolAnswerer['notes'];
  readonly #thread = `thread_${randomUUID()}`;
  readonly #chooser: Chooser;
  readonly #answering: Answering;
  readonly #underWay = new Set<Promise<unknown>>();
  #wasCalled = false;

  constructor(private readonly parts: Parts) {
    const { plan, terminal, interrupted, observation } = parts.setting;
    const { reporter } = observation;
    const aside: Chooser['aside'] = work => reporter.aside?.(work) ?? work();
    const { choose } = plan.flags;
    this.#chooser = { choose, pick: reporter.choose, terminal, signal: interrupted.signal, aside };
    this.#answering = answeringWith(this.#chooser);
    this.notes = notesOf(parts);
  }

  answer(call: PendingCall, { signal }: { readonly signal: AbortSignal }): Promise<Answer> {
    return this.#watched(this.#answer(call, signal));
  }

  /** Cancels the calls that were given up, and closes the thread. */
  async close(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.allSettled(this.#underWay);
    const { wire, discovered } = this.parts;
    if (this.#wasCalled) await closeThread(wire, discovered.base, this.#thread);
  }

  /** @throws ProtocolCliError `invalid-arguments`: the client's error (RT-ARGS). */
  async #answer(call: PendingCall, signal: AbortSignal): Promise<Answer> {
    const { setting, discovered } = this.parts;
    const { parseJson: parsesJson, validate } = setting.plan.flags;
    const { tools } = discovered.toolset;
    const tool = tools.find(({ name }) => name === call.tool);
    if (!tool)
      return unknownTool(
        call,
        tools.map(({ name }) => name),
      );
    if (validate) await this.#check(tool, call);
    const answer = answerOfExchange(call, await this.#exchange(tool, call, signal));
    return parsesJson ? this.#parsed(call, answer) : answer;
  }

  #parsed(call: PendingCall, text: Answer): Answer {
    const { answer, notes } = withParsedText(text);
    for (const note of notes)
      this.#warn(call, `${call.tool}: the text was not parsed as JSON, which would change it: ${note}`);
    return answer;
  }

  async #check(tool: Tool, call: PendingCall): Promise<void> {
    for (const { message } of await checkArguments(tool, call.args)) this.#warn(call, message);
  }

  #warn({ key }: PendingCall, message: string): void {
    const { observation, plan } = this.parts.setting;
    observation.log.emit({ kind: 'warned', calls: [key], thread: plan.id, message });
  }

  async #exchange(tool: Tool, call: PendingCall, signal: AbortSignal): Promise<Exchange> {
    const { setting, runtime } = this.parts;
    const denial = await setting.governing(tool, call.args);
    const { invocation, token } = runtime.address({
      operation: tool.name,
      arguments: call.args,
      id: call.key, // joins both legs in every event
      call_id: null,
      group_id: this.#thread,
    });
    setting.observation.redactor.add(token);
    if (denial) return runtime.deny(invocation, denial);
    this.#wasCalled = true;
    return this.#invoke(invocation, signal);
  }

  async #invoke(
    invocation: Parameters<Runtime['invoke']>[1]['invocation'],
    signal: AbortSignal,
  ): Promise<Exchange> {
    const { wire, runtime, discovered, setting } = this.parts;
    const { plan, observation, terminal, clock } = setting;
    const { known, log } = observation;
    const { timeout: timeoutMs, retries, lenientAck = false } = plan.flags;
    const key = invocation.id;
    const stopAnswering = answerQuestions(wire, known.history, invocation, this.#answering, clock);
    const cancel = () => log.emit({ kind: 'decided', what: 'cancel', by: 'person', calls: [key] });
    signal.addEventListener('abort', cancel);
    if (signal.aborted) cancel();
    const exchange = await runtime.invoke(wire, {
      endpoint: discovered.toolset.endpoint,
      invocation,
      timeoutMs,
      retries,
      lenientAck,
      waitsForPeople: isSomebodyThere(terminal),
      leave: pending => isLeftOpen(pending, this.#chooser),
    });
    signal.removeEventListener('abort', cancel);
    await stopAnswering();
    if (!exchange.settled) log.emit({ kind: 'decided', what: 'cancel', by: 'policy', calls: [key] }); // its question stays unanswered
    void this.#watched(this.#leave(known.history.exchanges.get(key) ?? exchange));
    return exchange;
  }

  /** A call that was given up is cancelled; so is a subscription, since no session takes its events. */
  async #leave(exchange: Exchange): Promise<void> {
    const { wire, discovered } = this.parts;
    await takeLeave(exchange, {
      wire,
      base: discovered.base,
      isOurThread: false,
      closes: false,
      listenOn: async () => {},
    });
  }

  #watched<T>(work: Promise<T>): Promise<T> {
    const watched = work.finally(() => this.#underWay.delete(watched));
    this.#underWay.add(watched);
    return watched;
  }
}

function notesOf({ wire, discovered }: Parts): ToolAnswerer['notes'] {
  const { toolset, notes } = discovered;
  const { headers, origin } = wire.credentials;
  const isWithheld = Object.keys(headers).length > 0 && new URL(toolset.endpoint).origin !== origin;
  const withheld = `the endpoint ${toolset.endpoint} is on another origin than ${origin}: ${Object.keys(headers).join(', ')} withheld from it`;
  return [
    ...notes.map(message => ({ id: 'TOOL-DISCOVER', message }) as const),
    ...(isWithheld ? [{ message: withheld }] : []),
  ];
}

import { Content } from '../../events/content.js';
import type { Log } from '../../events/log.js';
import { wantedText } from '../../fixtures/pattern.js';
import type {
  ScriptCall,
  SessionScript,
  SessionTool,
  SessionTurn,
} from '../../fixtures/session-script-types.js';
import { fillTemplates } from '../../fixtures/template.js';
import {
  ACTIVE_STATE_CHANGE,
  isTerminal,
  type SessionEvent,
  type SessionStatus,
  type SettledCall,
} from '../../protocol/session.js';
import type { Clock } from '../../system/clock.js';
import { compactJson, isRecord, jsonPath, stringOrJson, valueAt } from '../../util/values.js';
import type { SessionProblem } from '../../verification/report.js';

/** A call that the agent waits for. */
interface PendingCall {
  /** Its id, or `#1`, `#2` … if that is null; a reused id gets a number. */
  readonly key: string;
  readonly tool_name: string;
  readonly args?: Readonly<Record<string, unknown>>;
  readonly id: string | null;
}

/** A call with its first accepted answer. */
interface Settled {
  readonly call: PendingCall;
  readonly answer: SettledCall;
}

/** A message of a user, as it was posted. */
export interface UserMessage {
  readonly message: string;
  readonly caller_id?: string | undefined;
}

/** The request that created a session. */
export interface Creation {
  readonly tools?: readonly SessionTool[] | undefined;
  readonly request?: unknown;
  readonly messages?: readonly UserMessage[];
  /** Size of `request` in bytes. */
  readonly size?: number;
}

/** Maximum number of differences that one event names. */
const MAX_UNEXPECTED = 20;

const COMPLETION_REASONS: Readonly<Record<string, string>> = {
  completed: 'finished',
  interrupted: 'stopped',
  timed_out: 'timed_out',
};

const FAILURES: ReadonlySet<SessionStatus> = new Set(['failed', 'timed_out']);

/** A session whose agent follows a script. */
export class Session {
  readonly tools: readonly SessionTool[];
  /** The status without a pause. */
  phase: SessionStatus = 'pending';
  pending: readonly PendingCall[] = [];
  readonly settled: Settled[] = [];
  readonly events: SessionEvent[] = [];
  /** A text or an object; null until the agent has answered. */
  answer: unknown = null;
  /** Size of everything that clients have added, in bytes. */
  bytes: number;
  #isPaused = false;
  #error: Pick<SessionTurn, 'errorCode'> & { readonly message: string | null } = {
    message: null,
    errorCode: null,
  };
  #outcome: SessionTurn['outcome'] = null;
  #turn: SessionTurn;
  /** How the session goes on after messages. */
  readonly #nextTurns: SessionTurn[];
  /** The rounds of this turn that have not begun. */
  #nextRounds: (readonly ScriptCall[])[];
  /** The number of rounds that have begun. */
  #rounds = 0;
  /** Pending calls when the session ended. */
  readonly #abandoned: PendingCall[] = [];
  readonly #request: unknown;
  readonly #firstMessages: readonly UserMessage[];
  readonly #times: { readonly created_at: string; started_at: string | null; finished_at: string | null };
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly id: string,
    readonly script: SessionScript,
    private readonly log: Pick<Log, 'emit'>,
    private readonly clock: Pick<Clock, 'wall'>,
    { tools = script.tools, request = requestWith(tools), messages = [], size = 0 }: Creation = {},
  ) {
    this.tools = tools;
    this.#request = request;
    this.#firstMessages = messages;
    this.#turn = script;
    this.#nextRounds = [...script.rounds];
    this.#nextTurns = [...script.onMessage];
    this.bytes = size;
    this.#times = { created_at: this.#now(), started_at: null, finished_at: null };
  }

  get status(): SessionStatus {
    return this.#isPaused ? 'paused' : this.phase;
  }

  get isOver(): boolean {
    return isTerminal(this.phase);
  }

  /** The index of the first event that the platform still has. */
  get firstEvent(): number {
    const { kept_events: kept = Number.POSITIVE_INFINITY } = this.script.switches;
    return Math.max(0, this.events.length - kept);
  }

  get #stateView() {
    const { message: error, errorCode: error_code } = this.#error;
    return { error, error_code, outcome: this.#outcome };
  }

  get #pendingView() {
    return this.pending.map(onWire);
  }

  /** The state as the API shows it. */
  get statusView() {
    const { status } = this;
    const usage = { steps: this.#rounds, usage_per_model: [], subagent_session_ids: [] };
    return { status, ...this.#stateView, ...usage, pending_tool_calls: this.#pendingView };
  }

  /** The session as the API shows it. */
  get view() {
    const { id, statusView: status, answer: latest_answer } = this;
    return { id, request: this.#request, status, latest_answer, ...this.#times };
  }

  /** The session in the API's list. */
  get summary() {
    const { id, status } = this;
    const agent = valueAt(this.#request, 'agent');
    const name = typeof agent === 'string' ? agent : valueAt(agent, 'name');
    const first_message = this.#firstMessages[0] ?? null;
    const last_activity_at = this.events.at(-1)?.timestamp ?? null;
    return { id, agent: name ?? null, status, first_message, ...this.#times, last_activity_at };
  }

  /** Text in which the API's list searches. */
  get searchable(): string {
    const [first] = this.#firstMessages;
    return `${first?.message ?? ''}\n${stringOrJson(this.answer ?? '')}`.toLowerCase();
  }

  /** A member of the request that created the session. */
  requested(name: string): unknown {
    return valueAt(this.#request, name);
  }

  /** The answer to a long poll. @param first_index the index of the first of these events */
  changesView(new_events: readonly SessionEvent[], first_index: number) {
    const { status, answer } = this;
    const { started_at, finished_at } = this.#times;
    const metrics = { steps: this.#rounds };
    const state = { status, started_at, finished_at, ...this.#stateView };
    return { ...state, answer, metrics, pending_tool_calls: this.#pendingView, first_index, new_events };
  }

  /** Calls `listener` with each new event. Returns a function that stops this. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  start(): void {
    this.phase = 'running';
    this.#times.started_at = this.#now();
    this.#addEvent('AgentStartedEvent', {});
    this.#addMessages(this.#firstMessages);
    this.#runOn();
  }

  /** Stops the agent; results are still accepted. */
  pause(): void {
    if (this.#isPaused || this.isOver) return;
    this.#isPaused = true;
    this.#addEvent('AgentRunStatusChangeEvent', { status: 'paused' });
    this.#emitStatus();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#addEvent('AgentRunStatusChangeEvent', { status: 'running' });
    if (this.phase === 'running') this.#runOn();
    else this.#announce();
  }

  /** Makes the agent answer now, with the results so far. */
  forceAnswer(): void {
    if (this.isOver || this.phase === 'idle') return;
    this.#abandonPending();
    this.#say();
  }

  cancel(): void {
    if (this.isOver) return;
    this.#end('interrupted');
  }

  /** Adds a user's messages to the events; they resume a paused session, and an idle one begins its next turn. */
  takeMessages(messages: readonly UserMessage[]): void {
    this.#addMessages(messages);
    this.resume();
    const turn = this.phase === 'idle' ? this.#nextTurns.shift() : undefined;
    if (!turn) return;
    this.#turn = turn;
    this.#nextRounds = [...turn.rounds];
    this.phase = 'running';
    this.#runOn();
  }

  /** Applies the answers of pending calls; after the last one, the agent continues. */
  settle(answers: readonly Settled[]): void {
    if (answers.length === 0) return;
    const keys = new Set(answers.map(({ call }) => call.key));
    this.pending = this.pending.filter(({ key }) => !keys.has(key));
    this.settled.push(...answers);
    for (const answer of answers) {
      this.#emitAnswered(answer);
      this.#addEvent('AgentEvent', answer.answer, 0); // its size was counted
    }
    if (this.pending.length > 0) {
      this.#publishState();
      this.#emitPending();
    } else {
      this.phase = 'running';
      if (this.#isPaused) this.#publishState();
      else this.#runOn();
    }
  }

  /** Number of calls without an answer. */
  get unansweredCount(): number {
    return this.#abandoned.length + this.pending.length;
  }

  /** The differences between the session and its script. */
  problems(): SessionProblem[] {
    const { id: session, script } = this;
    const about = ({ key: call, tool_name }: PendingCall) => ({ session, call, tool_name });
    const of = [script, ...script.onMessage].reduce((sum, { rounds }) => sum + rounds.length, 0);
    const rounds = of - this.#rounds;
    return [
      ...this.settled.flatMap(each =>
        this.#unexpectedIn(each).map(what => ({ kind: 'unexpected' as const, ...about(each.call), ...what })),
      ),
      ...[...this.#abandoned, ...this.pending].map(call => ({ kind: 'unanswered' as const, ...about(call) })),
      ...(rounds > 0 ? [{ kind: 'unreached' as const, session, rounds, of }] : []),
    ];
  }

  /** Continues with the next round, or ends. */
  #runOn(): void {
    this.#announce();
    const round = this.#nextRounds.shift();
    if (round) this.#call(round);
    else this.#say();
  }

  #call(round: readonly ScriptCall[]): void {
    this.#rounds++;
    const results = this.#results();
    const missing: [key: string, path: string][] = [];
    this.pending = round.map(call => {
      const { value, missing: paths } = fillTemplates(call.args, { results });
      for (const path of paths) missing.push([call.key, path]);
      return pendingCall(call, value);
    });
    this.phase = 'awaiting_tool_results';
    this.#announce();
    for (const [key, path] of missing) this.#warnMissing(path, key);
  }

  /** Adds the script's answer and ends the turn with the script's status. */
  #say(): void {
    const { value, missing } = fillTemplates(this.#turn.answer, { results: this.#results() });
    const { outcome } = this.#turn;
    this.answer = asAnswer(value);
    this.#outcome = outcome;
    if (this.answer !== null)
      this.#addEvent('AgentEvent', {
        kind: 'answer_event',
        answer: this.answer,
        ...(outcome && { outcome }),
      });
    for (const path of missing) this.#warnMissing(path);
    this.#end(this.#turn.end);
  }

  #end(phase: SessionStatus): void {
    this.phase = phase;
    this.#isPaused = false;
    this.#abandonPending();
    const message = phase === 'failed' ? 'The agent failed, as its script says.' : null;
    this.#error = { message, errorCode: FAILURES.has(phase) ? this.#turn.errorCode : null };
    if (this.isOver) {
      this.#times.finished_at = this.#now();
      if (phase === 'failed') this.#addEvent('AgentErrorEvent', { error: message });
      else this.#addEvent('AgentCompletionEvent', { reason: COMPLETION_REASONS[phase] });
    } else this.#publishState();
    this.#emitStatus();
  }

  #abandonPending(): void {
    this.#abandoned.push(...this.pending);
    this.pending = [];
  }

  #announce(): void {
    this.#publishState();
    this.#emitStatus();
    if (this.pending.length > 0) this.#emitPending();
  }

  /**
   * Only the latest state event counts. A pause is not a state: clients would read an empty list of calls from it, and
   * treat the same calls after it as new.
   */
  #publishState(): void {
    const isWaiting = this.phase === 'awaiting_tool_results';
    const calls = isWaiting && { pending_tool_calls: this.pending.map(onWire) };
    this.#addEvent(ACTIVE_STATE_CHANGE, { state: this.phase, ...calls });
  }

  #addMessages(messages: readonly UserMessage[]): void {
    for (const { message, caller_id = 'user' } of messages)
      this.#addEvent('AgentEvent', { kind: 'message_event', caller_id, content: [message] });
  }

  #addEvent(type: string, data: SessionEvent['data'], bytes = bytesOf(data)): void {
    this.events.push({ type, data, timestamp: this.#now() });
    this.bytes += bytes;
    for (const listener of [...this.#listeners]) listener();
  }

  #emitStatus(): void {
    const { id: thread, status, answer } = this;
    const ending = {
      ...(this.#error.message !== null && { error: this.#error.message }),
      ...(answer !== null && { answer }),
    };
    this.log.emit({ kind: 'session', status, thread, ...ending });
  }

  #emitPending(): void {
    const pending = this.pending.map(call => ({ key: call.key, ...onWire(call) }));
    const calls = pending.map(({ key }) => key);
    this.log.emit({ kind: 'awaiting', round: this.#rounds - 1, pending, calls, thread: this.id });
  }

  #emitAnswered(settled: Settled): void {
    const body = Content.ofJson(settled.answer);
    this.bytes += body.size;
    const unexpected = this.#unexpectedIn(settled).slice(0, MAX_UNEXPECTED);
    const words = unexpected.map(({ path, reason }) => `${path} ${reason}`);
    const about = { calls: [settled.call.key], thread: this.id };
    const differences = words.length > 0 && { unexpected: words };
    this.log.emit({ kind: 'answered', by: 'platform', ...about, body, ...differences });
  }

  #warnMissing(path: string, key?: string): void {
    const message = `there is no {{${path}}}: it is null here, or empty in a text`;
    this.log.emit({ kind: 'warned', message, thread: this.id, ...(key !== undefined && { calls: [key] }) });
  }

  /** The latest results by id, or by key without an id, for templates. Created without assignment, because a key may be `__proto__` (threats, row 19). */
  #results(): Record<string, unknown> {
    return Object.fromEntries(
      this.settled.map(({ call, answer }) => [
        call.id ?? call.key,
        answer.kind === 'tool_result' ? answer.result : undefined,
      ]),
    );
  }

  /** Describes the differences between an answer and the script's expectation. */
  #unexpectedIn({ call, answer }: Settled): { readonly path: string; readonly reason: string }[] {
    const { script } = this;
    const calls = [script, ...script.onMessage].flatMap(({ rounds }) => rounds.flat());
    const expected = calls.find(({ key }) => key === call.key)?.expected;
    return (expected?.(answer) ?? []).map(difference => ({
      path: jsonPath(difference.path),
      reason: wantedText(difference),
    }));
  }

  #now(): string {
    return this.clock.wall().toISOString();
  }
}

function pendingCall({ key, tool_name, args, id }: ScriptCall, filled: unknown): PendingCall {
  if (!args) return { key, tool_name, id };
  return { key, tool_name, id, args: isRecord(filled) ? filled : args };
}

/** A pending call in the form that clients receive and send back. */
function onWire({ tool_name, args, id }: PendingCall) {
  return { tool_name, ...(args && { args }), id };
}

/** A request as the platform's document has it, of a session that no client created. */
function requestWith(tools: readonly SessionTool[]) {
  const described = tools.map(tool => ({ ...tool, description: tool.description ?? tool.name }));
  return {
    agent: { name: 'mock', description: 'The agent of a script.', environments: [], tools: described },
  };
}

/** An agent answers with a text or an object: any other value becomes a text. */
function asAnswer(value: unknown): unknown {
  if (value === null || typeof value === 'string' || isRecord(value)) return value;
  return compactJson(value);
}

function bytesOf(data: SessionEvent['data']): number {
  return Buffer.byteLength(JSON.stringify(data));
}

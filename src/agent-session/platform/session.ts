import { Content } from '../../events/content.js';
import type { Log } from '../../events/log.js';
import { wantedText } from '../../fixtures/pattern.js';
import type { ScriptCall, SessionScript, SessionTool } from '../../fixtures/session-script.js';
import { fillTemplates } from '../../fixtures/template.js';
import {
  ACTIVE_STATE_CHANGE,
  isTerminal,
  type SessionEvent,
  type SettledCall,
} from '../../protocol/session.js';
import type { Clock } from '../../system/clock.js';
import { isRecord, jsonPath, valueAt } from '../../util/values.js';
import type { SessionProblem } from '../../verification/report.js';

/** The statuses of an agent session. */
type SessionStatus =
  | ('queued' | 'pending' | 'running' | 'paused' | 'idle' | 'awaiting_tool_results')
  | ('completed' | 'timed_out' | 'interrupted' | 'failed');

/** A call that the agent waits for. */
interface PendingCall {
  /** Its id, or `#1`, `#2` … if that is null. */
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

/** The request that created a session. */
interface Creation {
  readonly tools?: readonly SessionTool[] | undefined;
  readonly request?: unknown;
  /** Size of `request` in bytes. */
  readonly size?: number;
}

/** Maximum number of differences that one event names. */
const MAX_UNEXPECTED = 20;

const COMPLETION_REASONS: Readonly<Record<string, string>> = { completed: 'finished' };

/** A session whose agent follows a script. */
export class Session {
  readonly tools: readonly SessionTool[];
  /** The status without a pause. */
  phase: SessionStatus = 'pending';
  pending: readonly PendingCall[] = [];
  readonly settled: Settled[] = [];
  readonly events: SessionEvent[] = [];
  answer: unknown = null;
  /** Size of everything that clients have added, in bytes. */
  bytes: number;
  #isPaused = false;
  #error: string | null = null;
  /** Index of the round, from 0; -1 before the first one. */
  #round = -1;
  /** Pending calls when the session ended. */
  readonly #abandoned: PendingCall[] = [];
  readonly #request: unknown;
  readonly #times: { readonly created_at: string; started_at: string | null; finished_at: string | null };
  readonly #listeners = new Set<() => void>();

  constructor(
    readonly id: string,
    readonly script: SessionScript,
    private readonly log: Pick<Log, 'emit'>,
    private readonly clock: Pick<Clock, 'wall'>,
    { tools = script.tools, request = {}, size = 0 }: Creation = {},
  ) {
    this.tools = tools;
    this.#request = request;
    this.bytes = size;
    this.#times = { created_at: this.#now(), started_at: null, finished_at: null };
  }

  get status(): SessionStatus {
    return this.#isPaused ? 'paused' : this.phase;
  }

  get isOver(): boolean {
    return isTerminal(this.phase);
  }

  /** The state as the API shows it. */
  get statusView() {
    const steps = this.#round + 1;
    return { status: this.status, error: this.#error, steps, usage_per_model: [], subagent_session_ids: [] };
  }

  /** The session as the API shows it. */
  get view() {
    const { id, statusView: status, answer: latest_answer, tools } = this;
    return { id, request: this.#request, status, latest_answer, tools, ...this.#times };
  }

  /** The session in the API's list. */
  get summary() {
    const { id, status } = this;
    return { id, agent: valueAt(this.#request, 'agent') ?? null, status, ...this.#times };
  }

  /** The answer to a long poll. */
  changesView(new_events: readonly SessionEvent[]) {
    const { status, answer } = this;
    const { started_at, finished_at } = this.#times;
    const metrics = { steps: this.#round + 1 };
    return { status, started_at, finished_at, error: this.#error, answer, metrics, new_events };
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
    this.#runOn();
  }

  /** Stops the agent; results are still accepted. */
  pause(): void {
    if (this.#isPaused || this.isOver) return;
    this.#isPaused = true;
    this.#emitStatus();
  }

  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
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

  /** Adds a user's messages to the events; they resume a paused session. */
  takeMessages(messages: readonly string[]): void {
    for (const message of messages) this.#addEvent('AgentEvent', userMessage(message));
    this.resume();
  }

  /** Applies the answers of pending calls; after the last one, the agent continues. */
  settle(answers: readonly Settled[]): void {
    if (answers.length === 0) return;
    const keys = new Set(answers.map(({ call }) => call.key));
    this.pending = this.pending.filter(({ key }) => !keys.has(key));
    this.settled.push(...answers);
    for (const answer of answers) this.#emitAnswered(answer);
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
    const rounds = script.rounds.length - 1 - this.#round;
    return [
      ...this.settled.flatMap(each =>
        this.#unexpectedIn(each).map(what => ({ kind: 'unexpected' as const, ...about(each.call), ...what })),
      ),
      ...[...this.#abandoned, ...this.pending].map(call => ({ kind: 'unanswered' as const, ...about(call) })),
      ...(rounds > 0 ? [{ kind: 'unreached' as const, session, rounds, of: script.rounds.length }] : []),
    ];
  }

  /** Continues with the next round, or ends. */
  #runOn(): void {
    this.#announce();
    const round = this.script.rounds[this.#round + 1];
    if (round) this.#call(round);
    else this.#say();
  }

  #call(round: readonly ScriptCall[]): void {
    this.#round++;
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

  /** Adds the script's answer and ends with the script's status. */
  #say(): void {
    const { value: answer, missing } = fillTemplates(this.script.answer, { results: this.#results() });
    this.answer = answer;
    if (answer !== null) this.#addEvent('AgentEvent', { kind: 'answer_event', answer });
    for (const path of missing) this.#warnMissing(path);
    this.#end(this.script.end);
  }

  #end(phase: SessionStatus): void {
    this.phase = phase;
    this.#isPaused = false;
    this.#abandonPending();
    this.#error = phase === 'failed' ? 'The agent failed, as its script says.' : null;
    if (this.isOver) {
      this.#times.finished_at = this.#now();
      this.#addEvent('AgentCompletionEvent', { reason: COMPLETION_REASONS[phase] ?? phase });
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

  #addEvent(type: string, data: SessionEvent['data']): void {
    this.events.push({ type, data, timestamp: this.#now() });
    this.bytes += bytesOf(data);
    for (const listener of [...this.#listeners]) listener();
  }

  #emitStatus(): void {
    const { id: thread, status, answer } = this;
    const ending = {
      ...(this.#error !== null && { error: this.#error }),
      ...(answer !== null && { answer }),
    };
    this.log.emit({ kind: 'session', status, thread, ...ending });
  }

  #emitPending(): void {
    const pending = this.pending.map(call => ({ key: call.key, ...onWire(call) }));
    const calls = pending.map(({ key }) => key);
    this.log.emit({ kind: 'awaiting', round: this.#round, pending, calls, thread: this.id });
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

  /** Results by key, for templates. Created without assignment, because a key may be `__proto__` (threats, row 19). */
  #results(): Record<string, unknown> {
    return Object.fromEntries(
      this.settled.map(({ call, answer }) => [
        call.key,
        answer.kind === 'tool_result' ? answer.result : undefined,
      ]),
    );
  }

  /** Describes the differences between an answer and the script's expectation. */
  #unexpectedIn({ call, answer }: Settled): { readonly path: string; readonly reason: string }[] {
    const expected = this.script.rounds.flat().find(({ key }) => key === call.key)?.expected;
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

function userMessage(message: string) {
  return { kind: 'user_message', message };
}

function bytesOf(data: SessionEvent['data']): number {
  return Buffer.byteLength(JSON.stringify(data));
}

import { Content } from '../../events/content.js';
import type { Log } from '../../events/log.js';
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
} from '../../protocol/session.js';
import type { Clock } from '../../system/clock.js';
import { compactJson, isRecord } from '../../util/values.js';
import type { SessionProblem } from '../../verification/report.js';
import { Expectations } from './expectations.js';
import { type AnsweredCall, type PendingCall, publishedCall } from './pending-call.js';

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

/** Why a session failed; both are null if it did not. */
interface SessionError {
  readonly message: string | null;
  readonly errorCode: SessionTurn['errorCode'];
}

/** In ISO format; null before. */
interface SessionTimes {
  readonly created_at: string;
  readonly started_at: string | null;
  readonly finished_at: string | null;
}

/** A session whose agent follows a script. */
export class Session {
  readonly tools: readonly SessionTool[];
  /** The request that created the session. */
  readonly request: unknown;
  readonly firstMessages: readonly UserMessage[];
  readonly #expectations: Expectations;
  readonly #listeners = new Set<() => void>();
  /** The status without a pause. */
  #phase: SessionStatus = 'pending';
  #isPaused = false;
  #turn: SessionTurn;
  /** How the session goes on after messages. */
  readonly #nextTurns: SessionTurn[];
  /** The rounds of this turn that have not begun. */
  #nextRounds: (readonly ScriptCall[])[];
  #roundsBegun = 0;
  #pending: readonly PendingCall[] = [];
  readonly #settled: AnsweredCall[] = [];
  /** Pending calls when the session ended. */
  readonly #abandoned: PendingCall[] = [];
  readonly #events: SessionEvent[] = [];
  #answer: unknown = null;
  #outcome: SessionTurn['outcome'] = null;
  #error: SessionError = { message: null, errorCode: null };
  #times: SessionTimes;
  #bytes: number;

  constructor(
    readonly id: string,
    readonly script: SessionScript,
    private readonly log: Pick<Log, 'emit'>,
    private readonly clock: Pick<Clock, 'wall'>,
    { tools = script.tools, request = requestWith(tools), messages = [], size = 0 }: Creation = {},
  ) {
    this.tools = tools;
    this.request = request;
    this.firstMessages = messages;
    this.#expectations = new Expectations(script);
    this.#turn = script;
    this.#nextRounds = [...script.rounds];
    this.#nextTurns = [...script.onMessage];
    this.#bytes = size;
    this.#times = { created_at: this.#now(), started_at: null, finished_at: null };
  }

  get status(): SessionStatus {
    return this.#isPaused ? 'paused' : this.#phase;
  }

  get isOver(): boolean {
    return isTerminal(this.#phase);
  }

  /** The index of the first event that the platform still has. */
  get firstEvent(): number {
    const { kept_events: kept = Number.POSITIVE_INFINITY } = this.script.switches;
    return Math.max(0, this.#events.length - kept);
  }

  get pending(): readonly PendingCall[] {
    return this.#pending;
  }

  get settled(): readonly AnsweredCall[] {
    return this.#settled;
  }

  /** Calls that wait for an answer, or did when the session ended. */
  get unanswered(): readonly PendingCall[] {
    return [...this.#abandoned, ...this.#pending];
  }

  get events(): readonly SessionEvent[] {
    return this.#events;
  }

  /** A text or an object; null until the agent has answered. */
  get answer(): unknown {
    return this.#answer;
  }

  /** The agent's own judgement of its work. */
  get outcome(): SessionTurn['outcome'] {
    return this.#outcome;
  }

  get error(): SessionError {
    return this.#error;
  }

  get times(): SessionTimes {
    return this.#times;
  }

  /** The number of rounds that have begun. */
  get roundsBegun(): number {
    return this.#roundsBegun;
  }

  /** Size of everything that clients have added, in bytes. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Calls `listener` with each new event. Returns a function that stops this. */
  onEvent(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }

  start(): void {
    this.#phase = 'running';
    this.#times = { ...this.#times, started_at: this.#now() };
    this.#addEvent('AgentStartedEvent', {});
    this.#addMessages(this.firstMessages);
    this.#continue();
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
    if (this.#phase === 'running') this.#continue();
    else this.#publishAll();
  }

  /** Makes the agent answer now, with the results so far. */
  forceAnswer(): void {
    if (this.isOver || this.#phase === 'idle') return;
    this.#abandonPending();
    this.#finishTurn();
  }

  cancel(): void {
    if (this.isOver) return;
    this.#end('interrupted');
  }

  /** Adds a user's messages to the events; they resume a paused session, and an idle one begins its next turn. */
  takeMessages(messages: readonly UserMessage[]): void {
    this.#addMessages(messages);
    this.resume();
    const turn = this.#phase === 'idle' ? this.#nextTurns.shift() : undefined;
    if (!turn) return;
    this.#turn = turn;
    this.#nextRounds = [...turn.rounds];
    this.#phase = 'running';
    this.#continue();
  }

  /** Applies the answers of pending calls; after the last one, the agent continues. */
  settle(answers: readonly AnsweredCall[]): void {
    if (answers.length === 0) return;
    const keys = new Set(answers.map(({ call }) => call.key));
    this.#pending = this.#pending.filter(({ key }) => !keys.has(key));
    this.#settled.push(...answers);
    for (const answer of answers) {
      this.#emitAnswered(answer);
      this.#addEvent('AgentEvent', answer.answer, 0); // its size was counted
    }
    if (this.#pending.length > 0) {
      this.#publishState();
      this.#emitPending();
    } else {
      this.#phase = 'running';
      if (this.#isPaused) this.#publishState();
      else this.#continue();
    }
  }

  /** The differences between the session and its script. */
  problems(): SessionProblem[] {
    return this.#expectations.problemsOf(this);
  }

  /** Continues with the next round, or ends. */
  #continue(): void {
    this.#publishAll();
    const round = this.#nextRounds.shift();
    if (round) this.#beginRound(round);
    else this.#finishTurn();
  }

  #beginRound(round: readonly ScriptCall[]): void {
    this.#roundsBegun++;
    const results = this.#results();
    const missing: [key: string, path: string][] = [];
    this.#pending = round.map(call => {
      const { value, missing: paths } = fillTemplates(call.args, { results });
      for (const path of paths) missing.push([call.key, path]);
      return pendingCall(call, value);
    });
    this.#phase = 'awaiting_tool_results';
    this.#publishAll();
    for (const [key, path] of missing) this.#warnMissing(path, key);
  }

  /** Adds the script's answer and ends the turn with the script's status. */
  #finishTurn(): void {
    const { value, missing } = fillTemplates(this.#turn.answer, { results: this.#results() });
    const { outcome } = this.#turn;
    this.#answer = asAnswer(value);
    this.#outcome = outcome;
    if (this.#answer !== null)
      this.#addEvent('AgentEvent', {
        kind: 'answer_event',
        answer: this.#answer,
        ...(outcome && { outcome }),
      });
    for (const path of missing) this.#warnMissing(path);
    this.#end(this.#turn.end);
  }

  #end(phase: SessionStatus): void {
    this.#phase = phase;
    this.#isPaused = false;
    this.#abandonPending();
    const message = phase === 'failed' ? 'The agent failed, as its script says.' : null;
    this.#error = { message, errorCode: FAILURES.has(phase) ? this.#turn.errorCode : null };
    if (this.isOver) {
      this.#times = { ...this.#times, finished_at: this.#now() };
      if (phase === 'failed') this.#addEvent('AgentErrorEvent', { error: message });
      else this.#addEvent('AgentCompletionEvent', { reason: COMPLETION_REASONS[phase] });
    } else this.#publishState();
    this.#emitStatus();
  }

  #abandonPending(): void {
    this.#abandoned.push(...this.#pending);
    this.#pending = [];
  }

  /** Publishes the state to clients, and logs it. */
  #publishAll(): void {
    this.#publishState();
    this.#emitStatus();
    if (this.#pending.length > 0) this.#emitPending();
  }

  /**
   * Only the latest state event counts. A pause is not a state: clients would read an empty list of calls from it, and
   * treat the same calls after it as new.
   */
  #publishState(): void {
    const isWaiting = this.#phase === 'awaiting_tool_results';
    const calls = isWaiting && { pending_tool_calls: this.#pending.map(publishedCall) };
    this.#addEvent(ACTIVE_STATE_CHANGE, { state: this.#phase, ...calls });
  }

  #addMessages(messages: readonly UserMessage[]): void {
    for (const { message, caller_id = 'user' } of messages)
      this.#addEvent('AgentEvent', { kind: 'message_event', caller_id, content: [message] });
  }

  #addEvent(type: string, data: SessionEvent['data'], bytes = bytesOf(data)): void {
    this.#events.push({ type, data, timestamp: this.#now() });
    this.#bytes += bytes;
    for (const listener of [...this.#listeners]) listener();
  }

  #emitStatus(): void {
    const { id: thread, status } = this;
    const answer = this.#answer;
    const ending = {
      ...(this.#error.message !== null && { error: this.#error.message }),
      ...(answer !== null && { answer }),
    };
    this.log.emit({ kind: 'session', status, thread, ...ending });
  }

  #emitPending(): void {
    const pending = this.#pending.map(call => ({ key: call.key, ...publishedCall(call) }));
    const calls = pending.map(({ key }) => key);
    this.log.emit({ kind: 'awaiting', round: this.#roundsBegun - 1, pending, calls, thread: this.id });
  }

  #emitAnswered(settled: AnsweredCall): void {
    const body = Content.ofJson(settled.answer);
    this.#bytes += body.size;
    const unexpected = this.#expectations.unexpectedIn(settled).slice(0, MAX_UNEXPECTED);
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
      this.#settled.map(({ call, answer }) => [
        call.id ?? call.key,
        answer.kind === 'tool_result' ? answer.result : undefined,
      ]),
    );
  }

  #now(): string {
    return this.clock.wall().toISOString();
  }
}

/** @param filled the arguments of the script, without templates */
function pendingCall({ key, tool_name, args, id }: ScriptCall, filled: unknown): PendingCall {
  if (!args) return { key, tool_name, id };
  return { key, tool_name, id, args: isRecord(filled) ? filled : args };
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

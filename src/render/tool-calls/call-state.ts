import type { Event } from '../../events/events.js';
import { urlSecrets } from '../../events/shareable.js';
import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  type ToolCall,
  type ToolCallState,
  toolCallState,
  typeOfDelivery,
} from '../../events/tool-call.js';
import { formatDuration } from '../../util/format-duration.js';
import { isRecord } from '../../util/json-diagnosis.js';
import type { Redactor } from '../../util/redact.js';
import { clipped, type Line, runningClock, type Span, say } from '../line.js';

/** What nobody else may see of a call: who has its callback URL can speak for the tool, who has a response URL for the user. */
export function secretsOf({ addressee, deliveries }: ToolCall): Redactor {
  if (!addressee) return urlSecrets([]);
  const { callback_url, id, group_id, call_id = '' } = addressee;
  return urlSecrets([callback_url, ...deliveries.flatMap(responseUrl)], [id, group_id, call_id ?? '']);
}

/** The URL of a consent page is for the person in front of the screen, and stays. */
function responseUrl({ body }: CallbackDelivery): string[] {
  const value = body?.json.ok ? body.json.value : null;
  const url = isRecord(value) ? value['response_url'] : null;
  return typeof url === 'string' ? [url] : [];
}

/** How a call stands. */
interface CallState {
  readonly mark: Span;
  readonly line: Line;
  /** Its clock goes on: what it says depends on the time. */
  readonly isRunning: boolean;
}

/**
 * @param now ms since the start, for calls that are not over
 * @param isPaused deliveries are held back
 */
export function callState(call: ToolCall, now: number, isPaused = false): CallState {
  const state = toolCallState(call);
  if (isToBeFired(call))
    return { mark: MARKS.asking, isRunning: false, line: [TO_BE_FIRED, ...extras(call)] };
  const isRunning = state === 'waiting' || state === 'asking';
  const isUnanswered = state === 'delivered' && isUnmatched(call);
  const isLate = state === 'delivered' && call.lost !== null;
  const isHeld = state === 'waiting' && isPaused;
  return {
    mark: isUnanswered || isLate ? say('!', 'warn') : MARKS[state],
    isRunning,
    line: [
      ...(isUnanswered ? [say('no fixture, ', 'warn')] : []),
      ...(isHeld ? [say('held', 'warn')] : STATES[state](call)),
      ...(isLate ? [say(', a later one failed', 'bad')] : []),
      ...extras(call),
      ...(isRunning && !isHeld ? [runningClock(now - runningSince(call, state))] : []),
    ],
  };
}

/** Its next event waits for a key; whatever became of its result. */
function isToBeFired(call: ToolCall): boolean {
  return call.awaits === 'fire';
}

const TO_BE_FIRED = say('waiting: press e to send', 'warn');

/** What was delivered says so, and looks like any other result. */
function isUnmatched({ invocation, answeredBy, plans, warnings }: ToolCall): boolean {
  return invocation !== null && answeredBy === null && plans.length === 0 && warnings.length > 0;
}

const MARKS: Readonly<Record<ToolCallState, Span>> = {
  waiting: say('…', 'running'),
  asking: say('?', 'warn'),
  delivered: say('✓', 'good'),
  undelivered: say('✗', 'bad'),
  silent: say('•', 'dim'),
  refused: say('✗', 'bad'),
};

const STATES: Readonly<Record<ToolCallState, (call: ToolCall) => Line>> = {
  waiting,
  asking: ({ deliveries }) => {
    const last = deliveries.at(-1);
    return [say(last && typeOfDelivery(last) === 'oauth' ? 'asks for consent' : 'asks for a choice', 'warn')];
  },
  delivered: ({ deliveries, receivedAt }) => {
    const result = deliveries.find(each => isDelivered(each) && typeOfDelivery(each) === 'tool_result');
    const endedAt = result?.attempts.find(({ status }) => isTaken(status))?.endedAt ?? receivedAt;
    return [say('delivered'), say(` after ${formatDuration(endedAt - receivedAt)}`, 'dim')];
  },
  undelivered: call => clipped(secretsOf(call).text(call.lost ?? 'not delivered'), 'bad'),
  silent: () => [say('no result (planned)', 'dim')],
  refused: ({ acknowledgement: { status } }) => [say(`refused with ${status}`, 'bad')],
};

/** Where it was tried already, what came of that. */
function waiting({ deliveries, isCancelled }: ToolCall): Line {
  const attempts = deliveries.at(-1)?.attempts ?? [];
  const failed = attempts.findLast(attempt => attempt.endedAt !== undefined && !isTaken(attempt.status));
  if (failed) return [say(`retrying, ${faultOf(failed)}`, 'warn')];
  return [say(isCancelled ? 'canceled' : 'waiting', 'running')];
}

function extras(call: ToolCall): Span[] {
  const { arrivals, isCancelled, deliveries } = call;
  const state = toolCallState(call);
  const attempts = Math.max(0, ...deliveries.map(({ attempts }) => attempts.length));
  const others = deliveries.filter(each => isSecondary(each)).length + call.forgotten;
  const notes = [
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(others > 0 ? [`${others} ${others === 1 ? 'event' : 'events'}`] : []),
    ...(arrivals > 1 ? [`received ${arrivals}×`] : []),
    ...(isCancelled && state !== 'waiting' ? ['canceled'] : []),
  ];
  return notes.map(note => say(`, ${note}`, 'dim'));
}

function isSecondary(delivery: CallbackDelivery): boolean {
  return typeOfDelivery(delivery) === 'subscription_event' && isDelivered(delivery);
}

/** What went wrong with an attempt, in a word. */
export function faultOf({ status, broken = 'broken' }: DeliveryAttempt): string {
  return status === undefined ? broken : `answered ${status}`;
}

export function isTaken(status = 0): boolean {
  return status >= 200 && status < 300;
}

/** A person who is asked is waited for from then on. */
function runningSince({ deliveries, receivedAt }: ToolCall, state: ToolCallState): number {
  return (state === 'asking' ? deliveries.at(-1)?.attempts[0]?.at : undefined) ?? receivedAt;
}

/** What a call asked somebody last. Foreign words; empty where it says nothing. */
interface AskedQuestion {
  readonly choices: readonly string[];
  /** Index of the choice that counts where nobody picks one. */
  readonly preset: number;
  readonly responseUrl: string;
  readonly authUrl: string;
}

export function questionOf(call: ToolCall | undefined): AskedQuestion {
  const asked = call?.deliveries.findLast(each => ASKING.has(typeOfDelivery(each)));
  const message = asked?.body?.json.ok ? asked.body.json.value : null;
  const { choices, default: preset, response_url, auth_url } = isRecord(message) ? message : NOTHING;
  return {
    choices: Array.isArray(choices) ? choices.map(String) : [],
    preset: Number(preset ?? 0),
    responseUrl: textOf(response_url),
    authUrl: textOf(auth_url),
  };
}

const ASKING = new Set<string | null>(['user_choice', 'oauth']);
const NOTHING: Readonly<Record<string, unknown>> = {};

function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

type Decision = Extract<Event, { kind: 'decided' }>;

/** What was decided: a choice by its label. Foreign words. */
export function decidedLabel({ what, value = '' }: Decision, call: ToolCall | undefined): string {
  return what === 'choice' ? (questionOf(call).choices[Number(value)] ?? String(value)) : String(value);
}

/** A mock has no policy: who fires a call gives the preset answer by hand. */
export function decidedBy({ by }: Decision): string {
  return by === 'policy' ? 'sent manually' : `by a ${by}`;
}

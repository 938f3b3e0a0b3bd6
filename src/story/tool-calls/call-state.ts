import {
  type CallbackDelivery,
  type DeliveryAttempt,
  isDelivered,
  type ToolCall,
  type ToolCallState,
  toolCallState,
  typeOfDelivery,
} from '../../exchange/tool-call.js';
import { formatDuration } from '../../text/format-duration.js';
import type { Line, Span } from '../line.js';
import { runningClock } from '../running-clock.js';
import { say } from '../spans.js';
import { clipped } from './clip.js';
import { secretsOf } from './secrets.js';

/** How a call stands. */
export interface CallState {
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
      ...(isLate ? [say(', a later one not', 'bad')] : []),
      ...extras(call),
      ...(isRunning && !isHeld ? [runningClock(now - runningSince(call, state))] : []),
    ],
  };
}

/** Its next event waits for a key; whatever became of its result. */
function isToBeFired(call: ToolCall): boolean {
  return call.awaits === 'fire';
}

const TO_BE_FIRED = say('waits to be fired: press e', 'warn');

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
  undelivered: call => clipped(secretsOf(call).text(call.lost ?? 'given up'), 'bad'),
  silent: () => [say('silent, as planned', 'dim')],
  refused: ({ acknowledgement: { status } }) => [say(`refused with ${status}`, 'bad')],
};

/** Where it was tried already, what came of that. */
function waiting({ deliveries, isCancelled }: ToolCall): Line {
  const attempts = deliveries.at(-1)?.attempts ?? [];
  const failed = attempts.findLast(attempt => attempt.endedAt !== undefined && !isTaken(attempt.status));
  if (failed) return [say(`to be sent again, ${faultOf(failed)}`, 'warn')];
  return [say(isCancelled ? 'cancelled' : 'waiting', 'running')];
}

function extras(call: ToolCall): Span[] {
  const { arrivals, isCancelled, deliveries } = call;
  const state = toolCallState(call);
  const attempts = Math.max(0, ...deliveries.map(({ attempts }) => attempts.length));
  const others = deliveries.filter(each => isSecondary(each)).length + call.forgotten;
  const notes = [
    ...(attempts > 1 ? [`${attempts} attempts`] : []),
    ...(others > 0 ? [`${others} ${others === 1 ? 'event' : 'events'}`] : []),
    ...(arrivals > 1 ? [`came ${arrivals}×`] : []),
    ...(isCancelled && state !== 'waiting' ? ['cancelled'] : []),
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

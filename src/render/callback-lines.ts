import type { Arrival, Exchange, VerdictKind } from '../events/exchange.js';
import { idOf } from '../events/fold-exchange.js';
import type { UntrackedRequest } from '../events/history.js';
import type { Callback, UserChoice } from '../protocol/callbacks.js';
import { clipped, type Line, say } from './line.js';
import { arrivalStep, stepLine } from './step-arrivals.js';
import { straySteps } from './steps.js';

/** Characters of an id, or of an address: nobody reads more. */
const MOST = 2_000;

/** A callback of a call that somebody else made, and what is known of that. */
export interface HeardCallback {
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** Whether it is of a call of which that was said beforehand. */
  readonly isExpected: boolean;
}

/** What came, as the story of a call tells it; then for which call, and how it can be answered. */
export function heardLines(heard: HeardCallback): Line[] {
  const { exchange, arrival } = heard;
  const step = arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0);
  const { message } = arrival;
  return [
    stepLine(step),
    ...(message ? [belonging(heard, message)] : []),
    ...(message?.type === 'user_choice' && arrival.verdict.kind === 'holds' ? [howToAnswer(message)] : []),
  ];
}

/** A request that is nobody's; where it went astray, where callbacks go. */
export function strayLine(untrackedRequest: UntrackedRequest, callbackUrl: string): Line {
  const { method, url, status, refusal = '' } = untrackedRequest;
  if (refusal !== 'wrong-address') return straySteps([untrackedRequest]).flatMap(stepLine);
  return [
    say('✗ ', 'bad'),
    ...clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MOST),
    say(': callbacks go to '),
    ...clipped(callbackUrl, 'plain', MOST),
  ];
}

/** For which call: one that is expected, one that a runtime would have to be waiting for, or just the ids that it names. */
function belonging({ arrival, isExpected }: HeardCallback, message: Callback): Line {
  const counts = COUNTS.has(arrival.verdict.kind);
  const isView = message.type === 'view_update';
  if (!counts) return [say('  names ', 'dim'), ...names(message)];
  if (isExpected) return [say('  matches the expected call: ', 'dim'), ...names(message)];
  const whose = isView ? '  would belong to a thread with ' : '  would match a pending call with ';
  return [say(whose, 'dim'), ...names(message)];
}

const COUNTS = new Set<VerdictKind>(['settles', 'holds', 'noted', 'ignored']);

function names(message: Callback): Line {
  const id = idOf(message);
  const group: Line = [say('group_id ', 'dim'), ...clipped(message.group_id, 'plain', MOST)];
  return id === undefined ? group : [...group, say(' and id ', 'dim'), ...clipped(id, 'plain', MOST)];
}

function howToAnswer({ id, default: selected, response_url }: UserChoice): Line {
  const answer = JSON.stringify({ id, selected });
  const where = clipped(response_url, 'plain', MOST);
  return [say('  to answer, POST ', 'dim'), ...clipped(answer, 'plain', MOST), say(' to ', 'dim'), ...where];
}

import type { Arrival, Exchange } from '../events/exchange.js';
import { idOf } from '../events/fold-exchange.js';
import type { UntrackedRequest } from '../events/history.js';
import type { Callback } from '../protocol/callbacks.js';
import { clipped, type Line, line, say } from './line.js';
import { arrivalStep, stepLine } from './step-arrivals.js';
import { straySteps } from './steps.js';

/** Characters of an id or of an address. */
const MOST = 2_000;

/** A callback of a call that another program made. */
export interface HeardCallback {
  readonly exchange: Exchange;
  readonly arrival: Arrival;
  /** The call was announced (`--expect`). */
  readonly isExpected: boolean;
}

/** A callback as a step, for which call it is, and how to answer it. */
export function heardLines({ exchange, arrival, isExpected }: HeardCallback): Line[] {
  const { message, verdict } = arrival;
  const lines = [stepLine(arrivalStep(exchange, arrival, exchange.subscription?.events ?? 0))];
  if (message)
    lines.push([say(`  ${relationTo(message, verdict.kind, isExpected)} `, 'dim'), ...idWords(message)]);
  if (message?.type === 'user_choice' && verdict.kind === 'holds') {
    const answer = clipped(JSON.stringify({ id: message.id, selected: message.default }), 'plain', MOST);
    const where = clipped(message.response_url, 'plain', MOST);
    lines.push([say('  to answer, POST ', 'dim'), ...answer, say(' to ', 'dim'), ...where]);
  }
  return lines;
}

/** An expected call, one that a runtime would have to wait for, or only the ids that a callback names. */
function relationTo(message: Callback, verdict: Arrival['verdict']['kind'], isExpected: boolean): string {
  if (!['settles', 'holds', 'noted', 'ignored'].includes(verdict)) return 'names';
  if (isExpected) return 'matches the expected call:';
  return message.type === 'view_update' ? 'would belong to a thread with' : 'would match a pending call with';
}

function idWords(message: Callback): Line {
  const id = idOf(message);
  const group: Line = [say('group_id ', 'dim'), ...clipped(message.group_id, 'plain', MOST)];
  return id === undefined ? group : [...group, say(' and id ', 'dim'), ...clipped(id, 'plain', MOST)];
}

/** A request that belongs to no call; one to a wrong address with the right one. */
export function strayLine(request: UntrackedRequest, callbackUrl: string): Line {
  const { method, url, status, refusal = '' } = request;
  if (refusal !== 'wrong-address') return straySteps([request]).flatMap(each => stepLine(each));
  const refused = clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MOST);
  return line`${say('✗ ', 'bad')}${refused}: callbacks go to ${clipped(callbackUrl, 'plain', MOST)}`;
}

import type { VerdictKind } from '../../events/exchange.js';
import { idOf } from '../../events/judge-callback.js';
import type { UntrackedRequest } from '../../events/untracked-requests.js';
import type { Callback } from '../../protocol/callbacks.js';
import { arrivalStep } from '../../render/callbacks.js';
import { clipped, type Line, line, quote, say, withMark } from '../../render/line.js';
import { stepLine } from '../../render/step.js';
import { refusedText } from '../../render/warnings.js';
import type { ArrivedCallback } from './received.js';

/** Maximum length of an id or an address, in characters. */
const MAX = 2_000;

/** Returns the lines for a callback: the step, its call, and how to answer it. */
export function callbackLines({ exchange, arrival, isExpected }: ArrivedCallback): Line[] {
  const { message, verdict } = arrival;
  const lines = [stepLine(arrivalStep(exchange, arrival))];
  if (message)
    lines.push([
      say(`  ${describeRelation(message, verdict.kind, isExpected)} `, 'dim'),
      ...idWords(message),
    ]);
  if (message?.type === 'user_choice' && verdict.kind === 'holds') {
    const answer = clipped(JSON.stringify({ id: message.id, selected: message.default }), 'plain', MAX);
    const where = clipped(message.response_url, 'plain', MAX);
    lines.push([say('  to answer, POST ', 'dim'), ...answer, say(' to ', 'dim'), ...where]);
  }
  return lines;
}

/** Describes the call: an expected one, one that a runtime would wait for, or only the ids that the callback names. */
function describeRelation(message: Callback, verdict: VerdictKind, isExpected: boolean): string {
  if (!['settles', 'holds', 'noted', 'ignored'].includes(verdict)) return 'names';
  if (isExpected) return 'matches the expected call:';
  return message.type === 'view_update' ? 'would belong to a thread with' : 'would match a pending call with';
}

function idWords(message: Callback): Line {
  const id = idOf(message);
  const group: Line = [say('group_id ', 'dim'), ...clipped(message.group_id, 'plain', MAX)];
  return id === undefined ? group : [...group, say(' and id ', 'dim'), ...clipped(id, 'plain', MAX)];
}

/** Describes a request that belongs to no call; for a wrong address it includes the right one. */
export function untrackedLine(request: UntrackedRequest, callbackUrl: string): Line {
  const { method, url, status, refusal = '' } = request;
  if (refusal !== 'wrong-address') return withMark('failed', quote(refusedText(request)));
  const refused = clipped(`a ${method} to ${url} was refused with ${status}`, 'plain', MAX);
  return withMark('failed', line`${refused}: callbacks go to ${clipped(callbackUrl, 'plain', MAX)}`);
}

import type { ErrorCode } from '../errors.js';
import { outcomeOf } from '../exchange/ending.js';
import { answeredAttempt, type Exchange, type Settlement } from '../exchange/exchange.js';
import { formatDuration } from '../text/format-duration.js';

export type FailureCode = ErrorCode | 'bad-acknowledgement' | 'timeout';

/** Why there is no result from the tool: what failed, and what to do next. The same shape as an error of ours. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Null where the tool sent its result.
 * @param strays how many POSTs reached the listener but no call
 */
export function failureOf(exchange: Exchange, strays = 0): Failure | null {
  const { settled, waitingFor } = exchange;
  if (settled) return settlementFailure(exchange, settled, strays);
  if (waitingFor?.type !== 'user_choice') return null;
  const { prompt, choices } = waitingFor;
  return {
    code: 'decision-needed',
    message: `the tool asks "${prompt}" and nobody is there to answer`,
    hint: `Answer with --choose <index, label or default>: ${choices.map((choice, index) => `${index} ${choice}`).join(', ')}.`,
  };
}

function settlementFailure(exchange: Exchange, settled: Settlement, strays: number): Failure | null {
  const outcome = outcomeOf(exchange);
  const message = outcome?.type === 'error' ? outcome.message : '';
  switch (settled.by) {
    case 'result':
      return null;
    case 'refusal':
      return { code: 'bad-acknowledgement', message, hint: ackHint(settled.status) };
    case 'unreachable':
      return {
        code: 'unreachable',
        message: `${exchange.endpoint}: ${message}`,
        hint: 'Is the tool running, and is its endpoint right?',
      };
    case 'timeout':
      return {
        code: 'timeout',
        message: timeoutMessage(exchange, settled.afterMs),
        hint: timeoutHint(exchange, strays),
      };
    case 'cancel':
      return { code: 'interrupted', message: 'interrupted before the result came' };
  }
}

function ackHint(status: number): string {
  if (status >= 500)
    return 'The tool failed to accept the invocation: its own log says why. It was sent again as often as --retries allows.';
  if (status >= 300 && status < 400)
    return "Redirects are never followed: put the final address into the toolset's endpoint.";
  if (status < 300) return 'Only 200 acknowledges an invocation (TOOL-ACK); --lenient-ack waits on any 2xx.';
  return 'A 4xx is never sent again (RT-NORETRY): mend the request, or the tool.';
}

function timeoutMessage(exchange: Exchange, afterMs: number): string {
  const { invocation, endpoint } = exchange;
  const answered = answeredAttempt(exchange);
  const acknowledged = answered ? `it was acknowledged with ${answered.status}` : 'it was never acknowledged';
  return `no result within ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}, ${acknowledged}`;
}

/** The likeliest reason first: what came and did not count, then where nothing came at all. */
function timeoutHint(exchange: Exchange, strays: number): string {
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(({ verdict }) => ('reason' in verdict ? [verdict.reason] : []));
  if (reason !== undefined)
    return `A callback came to the URL it was given, at ${origin}, but did not count: ${reason}.`;
  if (strays > 0)
    return `Something was posted to ${origin}, but not to the callback URL: that must be used exactly as it was given.`;
  const silence = 'The connection was taken, but no answer came: the tool must answer 200 before it works. ';
  const reach = `The tool must be able to reach the callback URL it was given, at ${origin}.`;
  return `${answeredAttempt(exchange) ? '' : silence}${reach} --callback-url gives another address, --timeout more time.`;
}

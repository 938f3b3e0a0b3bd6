import type { ErrorCode } from '../errors.js';
import { outcomeOf } from '../exchange/ending.js';
import { type Arrival, answeredAttempt, type Exchange, type Settlement } from '../exchange/exchange.js';
import type { Errand } from '../exchange/history.js';
import { openChoices } from '../exchange/questions.js';
import type { UserChoice } from '../protocol/callbacks/index.js';
import { cut } from '../text/cut.js';
import { formatDuration } from '../text/format-duration.js';

export type FailureCode = ErrorCode | 'bad-acknowledgement' | 'denied' | 'timeout';

/** Of a question this much is told: characters, and how many choices by their name. */
const MOST = { prompt: 300, label: 60, choices: 20 };

/** Why there is no result from the tool: what failed, and what to do next. The same shape as an error of ours. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Null where the tool sent its result.
 * @param errands what else was posted: to nobody's address, or in vain
 */
export function failureOf(exchange: Exchange, errands: Iterable<Errand> = []): Failure | null {
  const { settled } = exchange;
  if (settled) return settlementFailure(exchange, settled, [...errands]);
  const [question] = openChoices(exchange);
  return question ? unanswered(question) : null;
}

function unanswered({ prompt, choices }: UserChoice): Failure {
  const named = choices.slice(0, MOST.choices).map((choice, index) => `${index} ${cut(choice, MOST.label)}`);
  const rest = choices.length - named.length;
  return {
    code: 'decision-needed',
    message: `the tool asks "${cut(prompt, MOST.prompt)}" and nobody is there to answer`,
    hint: `Answer with --choose <index, label or default>: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
  };
}

function settlementFailure(
  exchange: Exchange,
  settled: Settlement,
  errands: readonly Errand[],
): Failure | null {
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
        hint: timeoutHint(exchange, errands),
      };
    case 'denial':
      return {
        code: 'denied',
        message: `${settled.tool} was not called: ${settled.who === 'person' ? 'you said no' : settled.reason}`,
        ...(settled.who === 'policy' && { hint: 'The file of --policy says what may be called.' }),
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
function timeoutHint(exchange: Exchange, errands: readonly Errand[]): string {
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(reasonOf);
  if (reason !== undefined)
    return `A callback came to the URL it was given, at ${origin}, but did not count: ${reason}.`;
  if (errands.some(errand => isLostSelection(errand, exchange)))
    return 'The tool had asked, and the selection did not reach its response_url: it may still wait for it.';
  if (errands.some(({ purpose }) => purpose === 'callback'))
    return `Something was posted to ${origin}, but not to the callback URL: that must be used exactly as it was given.`;
  const silence = 'The connection was taken, but no answer came: the tool must answer 200 before it works. ';
  const reach = `The tool must be able to reach the callback URL it was given, at ${origin}.`;
  return `${answeredAttempt(exchange) ? '' : silence}${reach} --callback-url gives another address, --timeout more time.`;
}

/** Why a callback did not count. What nobody here knows was no result anyway. */
function reasonOf({ verdict }: Arrival): string[] {
  return verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [];
}

function isLostSelection({ purpose, calls, status }: Errand, { key }: Exchange): boolean {
  return purpose === 'choice' && status !== 200 && calls.includes(key);
}

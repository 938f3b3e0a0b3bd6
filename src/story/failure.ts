import type { ErrorCode } from '../errors.js';
import { outcomeOf } from '../exchange/ending.js';
import { type Errand, Errands } from '../exchange/errands.js';
import { type Arrival, answeredAttempt, type Exchange, type Settlement } from '../exchange/exchange.js';
import { openChoices } from '../exchange/questions.js';
import type { UserChoice } from '../protocol/callbacks/index.js';
import { cut } from '../text/cut.js';
import { formatDuration } from '../text/format-duration.js';
import { givenUpWords } from './given-up.js';

export type FailureCode = ErrorCode | 'bad-acknowledgement' | 'denied' | 'timeout';

/** Of a question this much is told: characters, and how many choices by their name. */
const MOST = { prompt: 300, label: 60, choices: 20 };

const NO_ERRANDS = new Errands();

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
export function failureOf(exchange: Exchange, errands: Errands = NO_ERRANDS): Failure | null {
  const { settled } = exchange;
  if (settled) return settlementFailure(exchange, settled, errands);
  const [question] = openChoices(exchange);
  return question ? unanswered(question) : null;
}

function unanswered({ prompt, choices }: UserChoice): Failure {
  const named = choices.slice(0, MOST.choices).map((choice, index) => `${index} ${cut(choice, MOST.label)}`);
  const rest = choices.length - named.length;
  return {
    code: 'decision-needed',
    message: `the tool asks "${cut(prompt, MOST.prompt)}" and nobody answered`,
    hint: `Answer with --choose <index, label or default>: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
  };
}

function settlementFailure(exchange: Exchange, settled: Settlement, errands: Errands): Failure | null {
  const outcome = outcomeOf(exchange);
  const message = outcome?.type === 'error' ? outcome.message : '';
  switch (settled.by) {
    case 'result':
    case 'answer':
      return null;
    case 'refusal':
      return { code: 'bad-acknowledgement', message, hint: refusalHint(exchange, settled.status) };
    case 'unreachable':
      return {
        code: 'unreachable',
        message: `${exchange.endpoint}: ${message}`,
        hint: 'Is the tool running, and is its endpoint right?',
      };
    case 'timeout':
      return {
        code: 'timeout',
        ...(isConsentMissing(exchange)
          ? missingConsent(exchange, settled.afterMs)
          : { message: timeoutMessage(exchange, settled.afterMs), hint: timeoutHint(exchange, errands) }),
      };
    case 'denial':
      return {
        code: 'denied',
        message: `${settled.tool} was not called: ${settled.who === 'person' ? 'you said no' : settled.reason}`,
        ...(settled.who === 'policy' && { hint: 'The file of --policy says what may be called.' }),
      };
    case 'cancel':
      return settled.who === 'person'
        ? { code: 'interrupted', message: 'interrupted before the result came' }
        : { code: 'decision-needed', message: givenUpWords(exchange, settled) };
  }
}

function refusalHint({ dialect }: Exchange, status: number): string {
  return dialect === 'mcp' ? "The server's own log says why." : ackHint(status);
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
  const { invocation, endpoint, dialect } = exchange;
  if (dialect === 'mcp')
    return `no result within ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}`;
  const answered = answeredAttempt(exchange);
  const acknowledged = answered ? `it was acknowledged with ${answered.status}` : 'it was never acknowledged';
  return `no result within ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}, ${acknowledged}`;
}

function isConsentMissing({ questions }: Exchange): boolean {
  return questions.some(({ message, isAnswered }) => message.type === 'oauth' && !isAnswered);
}

function missingConsent({ invocation }: Exchange, afterMs: number): Pick<Failure, 'message' | 'hint'> {
  return {
    message: `consent was not given within ${formatDuration(afterMs)}: ${invocation.operation} waits for somebody to visit its URL`,
    hint: 'Call again and visit the URL that is printed. Without --timeout, or on a terminal, the wait has no end.',
  };
}

/** The likeliest reason first: what came and did not count, then where nothing came at all. */
function timeoutHint(exchange: Exchange, errands: Errands): string {
  if (exchange.dialect === 'mcp')
    return 'The server was told that the call is cancelled. --timeout gives more time.';
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(reasonOf);
  if (reason !== undefined)
    return `A callback came to the URL it was given, at ${origin}, but did not count: ${reason}.`;
  if (errands.ofCall(exchange.key).some(isLostSelection))
    return 'The tool had asked, and the selection did not reach its response_url: it may still wait for it.';
  if (errands.hasStrays)
    return `Something was posted to ${origin}, but not to the callback URL: that must be used exactly as it was given.`;
  const silence = 'The connection was taken, but no answer came: the tool must answer 200 before it works. ';
  const reach = `The tool must be able to reach the callback URL it was given, at ${origin}.`;
  return `${answeredAttempt(exchange) ? '' : silence}${reach} --callback-url gives another address, --timeout more time.`;
}

/** Why a callback did not count. What nobody here knows was no result anyway. */
function reasonOf({ verdict }: Arrival): string[] {
  return verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [];
}

function isLostSelection({ purpose, status }: Errand): boolean {
  return purpose === 'choice' && status !== 200;
}

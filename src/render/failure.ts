import {
  type Arrival,
  answeredAttempt,
  type Exchange,
  openChoices,
  outcomeOf,
  type Settlement,
  unreadSize,
} from '../events/exchange.js';
import { type UntrackedRequest, UntrackedRequests } from '../events/history.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { ErrorCode } from '../util/errors.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText, cut } from '../util/json-diagnosis.js';
import { cancelText } from './steps.js';

/** Where a failure is told. What helps may be an option: on a command line that is the next word, elsewhere it belongs to a command. */
type Place = 'command line' | 'workbench';

/** What there is to say it by. */
interface Scene {
  readonly exchange: Exchange;
  readonly untracked: UntrackedRequests;
  readonly place: Place;
}

function option(name: string, { place }: Scene): string {
  return place === 'workbench' ? `invoke -i ${name}` : name;
}

/** What helps where the tool did not accept the call. */
function refusalHint(scene: Scene, status: number): string {
  return scene.exchange.dialect === 'mcp' ? "See the server's log." : ackHint(scene, status);
}

function ackHint(scene: Scene, status: number): string {
  if (status >= 500)
    return `The tool failed to accept the invocation; see its log. Set the number of retries with ${option('--retries', scene)}.`;
  if (status >= 300 && status < 400)
    return "Redirects are not followed; put the final URL into the toolset's endpoint.";
  if (status < 300)
    return `Only 200 acknowledges an invocation (TOOL-ACK); use ${option('--lenient-ack', scene)} to accept any 2xx.`;
  return 'A request that got a 4xx is not retried (RT-NORETRY). Fix the request or the tool.';
}

/** What helps where nobody gave a consent in time. */
function consentHint({ place }: Scene): string {
  return CONSENT_HINTS[place];
}

const CONSENT_HINTS: Readonly<Record<Place, string>> = {
  'command line':
    'Call again and visit the printed URL. Without --timeout, or on a terminal, the call waits without a limit.',
  workbench: 'Call again and visit the URL that is shown. The call waits without a limit.',
};

/** Why nothing came in time, the likeliest reason first: what came and did not count, then where nothing came at all. */
function timeoutHint(scene: Scene): string {
  const { exchange, untracked } = scene;
  const moreTime = option('--timeout', scene);
  if (exchange.dialect === 'mcp')
    return `The server was notified that the call is canceled. To wait longer, use ${moreTime}.`;
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(reasonOf);
  if (reason !== undefined) return `A callback arrived at ${origin} but was not accepted: ${reason}.`;
  if (untracked.ofCall(exchange.key).some(isLostSelection))
    return 'The tool asked for a choice, but the selection did not reach its response_url. The tool may still be waiting.';
  if (untracked.hasStrays)
    return `A request was posted to ${origin} but not to the callback URL. The tool must use the callback URL unchanged.`;
  const reach = `Check that the tool can reach its callback URL at ${origin}.`;
  return `${aboutAnswer(exchange)}${reach} ${option('--callback-url', scene)} sets another address; ${moreTime} sets a longer limit.`;
}

/** What was odd about the acknowledgement, if anything: a result in it is every beginner's first mistake. */
function aboutAnswer(exchange: Exchange): string {
  if (!answeredAttempt(exchange))
    return 'The tool accepted the connection but did not answer. It must answer 200 before it starts to work. ';
  const size = unreadSize(exchange);
  if (size === 0) return '';
  return `The body of the 200 (${bytesText(size)}) is ignored; the tool must POST the result to callback_url. `;
}

/** Whose rule it was that forbade the call. */
function policyHint(scene: Scene): string {
  return `Change the rules in the ${option('--policy', scene)} file to allow the call.`;
}

/** Why a callback did not count. What nobody here knows was no result anyway. */
function reasonOf({ verdict }: Arrival): string[] {
  return verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [];
}

function isLostSelection({ purpose, status }: UntrackedRequest): boolean {
  return purpose === 'choice' && status !== 200;
}

export type FailureCode = ErrorCode | 'bad-acknowledgement' | 'denied' | 'timeout';

/** Of a question this much is told: characters, and how many choices by their name. */
const MOST = { prompt: 300, label: 60, choices: 20 };

const NO_ERRANDS = new UntrackedRequests();

/** Why there is no result from the tool: what failed, and what to do next. The same shape as an error of ours. */
export interface Failure {
  readonly code: FailureCode;
  readonly message: string;
  readonly hint?: string;
}

/**
 * Null where the tool sent its result.
 * @param untracked what else was posted: to nobody's address, or in vain
 * @param place where it is told
 */
export function failureOf(
  exchange: Exchange,
  untracked: UntrackedRequests = NO_ERRANDS,
  place: Place = 'command line',
): Failure | null {
  const { settled } = exchange;
  if (settled) return settlementFailure({ exchange, untracked, place }, settled);
  const [question] = openChoices(exchange);
  return question ? unanswered(question) : null;
}

function unanswered({ prompt, choices }: UserChoice): Failure {
  const named = choices.slice(0, MOST.choices).map((choice, index) => `${index} ${cut(choice, MOST.label)}`);
  const rest = choices.length - named.length;
  return {
    code: 'decision-needed',
    message: `the tool asks "${cut(prompt, MOST.prompt)}", but no answer was given`,
    hint: `Answer with --choose <index, label or default>: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
  };
}

function settlementFailure(scene: Scene, settled: Settlement): Failure | null {
  const { exchange } = scene;
  const outcome = outcomeOf(exchange);
  const message = outcome?.type === 'error' ? outcome.message : '';
  switch (settled.by) {
    case 'result':
    case 'answer':
      return null;
    case 'refusal':
      return { code: 'bad-acknowledgement', message, hint: refusalHint(scene, settled.status) };
    case 'unreachable':
      if (settled.reason !== undefined)
        return {
          code: 'unreachable',
          message,
          hint: 'See its log; use -v to show its stderr.',
        };
      return {
        code: 'unreachable',
        message: `${exchange.endpoint}: ${message}`,
        hint: 'Check that the tool is running and its endpoint is correct.',
      };
    case 'timeout':
      return isConsentMissing(exchange)
        ? {
            code: 'timeout',
            message: consentMessage(exchange, settled.afterMs),
            hint: consentHint(scene),
          }
        : {
            code: 'timeout',
            message: timeoutMessage(scene, settled.afterMs),
            hint: timeoutHint(scene),
          };
    case 'denial':
      return {
        code: 'denied',
        message: `${settled.tool} was not called: ${settled.who === 'person' ? 'declined by you' : settled.reason}`,
        ...(settled.who === 'policy' && { hint: policyHint(scene) }),
      };
    case 'cancel':
      return settled.who === 'person'
        ? { code: 'interrupted', message: 'interrupted before the result arrived' }
        : { code: 'decision-needed', message: cancelText(exchange, settled) };
  }
}

function timeoutMessage({ exchange, untracked }: Scene, afterMs: number): string {
  const { invocation, endpoint, dialect } = exchange;
  if (dialect === 'mcp')
    return `timed out after ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}`;
  const answered = answeredAttempt(exchange);
  const size = unreadSize(exchange);
  const body = size > 0 ? `, and a body of ${bytesText(size)}` : '';
  const nothing = untracked.hasStrays
    ? ', and nothing was posted to its callback URL'
    : ', and no callback has arrived';
  const acknowledged = answered
    ? `it was acknowledged with ${answered.status}${body}${exchange.arrivals.length === 0 ? nothing : ''}`
    : 'it was not acknowledged';
  return `timed out after ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}, ${acknowledged}`;
}

function isConsentMissing({ questions }: Exchange): boolean {
  return questions.some(({ message, isAnswered }) => message.type === 'oauth' && !isAnswered);
}

function consentMessage({ invocation: { operation } }: Exchange, afterMs: number): string {
  return `consent was not given within ${formatDuration(afterMs)}: ${operation} waits for a user to visit its URL`;
}

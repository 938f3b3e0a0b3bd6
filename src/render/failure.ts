import {
  type Arrival,
  answeredAttempt,
  type Exchange,
  outcomeOf,
  type Settlement,
  unreadSize,
} from '../events/exchange.js';
import { type Errand, Errands } from '../events/history.js';
import { openChoices } from '../events/questions.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { ErrorCode } from '../util/errors.js';
import { formatDuration } from '../util/format-duration.js';
import { bytesText, cut } from '../util/json-diagnosis.js';
import { givenUpWords } from './given-up.js';

/** Where a failure is told. What helps may be an option: on a command line that is the next word, elsewhere it belongs to a command. */
type Place = 'command line' | 'workbench';

/** What there is to say it by. */
interface Scene {
  readonly exchange: Exchange;
  readonly errands: Errands;
  readonly place: Place;
}

function option(name: string, { place }: Scene): string {
  return place === 'workbench' ? `invoke -i ${name}` : name;
}

/** What helps where the tool did not accept the call. */
function refusalHint(scene: Scene, status: number): string {
  return scene.exchange.dialect === 'mcp' ? "The server's own log says why." : ackHint(scene, status);
}

function ackHint(scene: Scene, status: number): string {
  if (status >= 500)
    return `The tool failed to accept the invocation: its own log says why. It was sent again as often as ${option('--retries', scene)} allows.`;
  if (status >= 300 && status < 400)
    return "Redirects are never followed: put the final address into the toolset's endpoint.";
  if (status < 300)
    return `Only 200 acknowledges an invocation (TOOL-ACK); ${option('--lenient-ack', scene)} waits on any 2xx.`;
  return 'A 4xx is never sent again (RT-NORETRY): mend the request, or the tool.';
}

/** What helps where nobody gave a consent in time. */
function consentHint({ place }: Scene): string {
  return CONSENT_HINTS[place];
}

const CONSENT_HINTS: Readonly<Record<Place, string>> = {
  'command line':
    'Call again and visit the URL that is printed. Without --timeout, or on a terminal, the wait has no end.',
  workbench: 'Run it again here, and visit the URL that is shown: the wait for that has no end.',
};

/** Why nothing came in time, the likeliest reason first: what came and did not count, then where nothing came at all. */
function timeoutHint(scene: Scene): string {
  const { exchange, errands } = scene;
  const moreTime = option('--timeout', scene);
  if (exchange.dialect === 'mcp')
    return `The server was told that the call is cancelled. ${moreTime} gives more time.`;
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(reasonOf);
  if (reason !== undefined)
    return `A callback came to the URL it was given, at ${origin}, but did not count: ${reason}.`;
  if (errands.ofCall(exchange.key).some(isLostSelection))
    return 'The tool had asked, and the selection did not reach its response_url: it may still wait for it.';
  if (errands.hasStrays)
    return `Something was posted to ${origin}, but not to the callback URL: that must be used exactly as it was given.`;
  const reach = `The tool must be able to reach the callback URL it was given, at ${origin}.`;
  return `${aboutAnswer(exchange)}${reach} ${option('--callback-url', scene)} gives another address, ${moreTime} more time.`;
}

/** What was odd about the acknowledgement, if anything: a result in it is every beginner's first mistake. */
function aboutAnswer(exchange: Exchange): string {
  if (!answeredAttempt(exchange))
    return 'The connection was taken, but no answer came: the tool must answer 200 before it works. ';
  const size = unreadSize(exchange);
  if (size === 0) return '';
  return `The 200 had a body of ${bytesText(size)}, which nobody reads: POST the result to the callback_url. `;
}

/** Whose rule it was that forbade the call. */
function policyHint(scene: Scene): string {
  return `The file of ${option('--policy', scene)} says what may be called.`;
}

/** Why a callback did not count. What nobody here knows was no result anyway. */
function reasonOf({ verdict }: Arrival): string[] {
  return verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [];
}

function isLostSelection({ purpose, status }: Errand): boolean {
  return purpose === 'choice' && status !== 200;
}

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
 * @param place where it is told
 */
export function failureOf(
  exchange: Exchange,
  errands: Errands = NO_ERRANDS,
  place: Place = 'command line',
): Failure | null {
  const { settled } = exchange;
  if (settled) return settlementFailure({ exchange, errands, place }, settled);
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
          hint: 'Its own log says why; -v shows what it writes to stderr.',
        };
      return {
        code: 'unreachable',
        message: `${exchange.endpoint}: ${message}`,
        hint: 'Is the tool running, and is its endpoint right?',
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
            message: timeoutMessage(exchange, settled.afterMs),
            hint: timeoutHint(scene),
          };
    case 'denial':
      return {
        code: 'denied',
        message: `${settled.tool} was not called: ${settled.who === 'person' ? 'you said no' : settled.reason}`,
        ...(settled.who === 'policy' && { hint: policyHint(scene) }),
      };
    case 'cancel':
      return settled.who === 'person'
        ? { code: 'interrupted', message: 'interrupted before the result came' }
        : { code: 'decision-needed', message: givenUpWords(exchange, settled) };
  }
}

function timeoutMessage(exchange: Exchange, afterMs: number): string {
  const { invocation, endpoint, dialect } = exchange;
  if (dialect === 'mcp')
    return `no result within ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}`;
  const answered = answeredAttempt(exchange);
  const size = unreadSize(exchange);
  const body = size > 0 ? `, and a body of ${bytesText(size)}` : '';
  const acknowledged = answered
    ? `it was acknowledged with ${answered.status}${body}${exchange.arrivals.length === 0 ? ', and no callback has arrived' : ''}`
    : 'it was never acknowledged';
  return `no result within ${formatDuration(afterMs)}: ${invocation.operation} was sent to ${endpoint}, ${acknowledged}`;
}

function isConsentMissing({ questions }: Exchange): boolean {
  return questions.some(({ message, isAnswered }) => message.type === 'oauth' && !isAnswered);
}

function consentMessage({ invocation: { operation } }: Exchange, afterMs: number): string {
  return `consent was not given within ${formatDuration(afterMs)}: ${operation} waits for somebody to visit its URL`;
}

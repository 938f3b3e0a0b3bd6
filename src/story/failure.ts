import type { ErrorCode } from '../errors.js';
import { outcomeOf } from '../exchange/ending.js';
import { Errands } from '../exchange/errands.js';
import { answeredAttempt, type Exchange, type Settlement, unreadSize } from '../exchange/exchange.js';
import { openChoices } from '../exchange/questions.js';
import type { UserChoice } from '../protocol/callbacks/index.js';
import { bytesText } from '../text/bytes-text.js';
import { cut } from '../text/cut.js';
import { formatDuration } from '../text/format-duration.js';
import {
  consentHint,
  type Place,
  policyHint,
  refusalHint,
  type Scene,
  timeoutHint,
} from './failure-hints.js';
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

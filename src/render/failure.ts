import {
  acknowledgementOf,
  answeredAttempt,
  type Exchange,
  openChoices,
  outcomeOf,
  type Settlement,
  UNANSWERED,
} from '../events/exchange.js';
import { UntrackedRequests } from '../events/untracked-requests.js';
import type { UserChoice } from '../protocol/callbacks.js';
import type { Warning } from '../protocol/requirements.js';
import { bytesText, formatDuration, truncate } from '../util/text.js';
import { type Line, quote, say } from './line.js';
import type { Trouble } from './outputs/trouble.js';

const NO_REQUESTS = new UntrackedRequests();

/** Returns null if the tool sent a result. @param untracked requests of no call: strays, notices, selections */
export function failureOf(exchange: Exchange, untracked: UntrackedRequests = NO_REQUESTS): Trouble | null {
  const { settled } = exchange;
  if (settled) return settlementFailure(exchange, untracked, settled);
  const [question] = openChoices(exchange);
  return question ? unanswered(question) : null;
}

/** What ended a call, in a few words. */
export function settlementText(settled: Settlement): string {
  switch (settled.by) {
    case 'result':
    case 'answer':
      return 'the result has arrived';
    case 'refusal':
      return `the tool answered ${settled.status} instead of 200`;
    case 'unreachable':
      return errorText({ settled });
    case 'timeout':
      return `timed out after ${formatDuration(settled.afterMs)}`;
    case 'denial':
      return `${settled.tool} was not called: ${settled.who === 'person' ? 'declined by you' : settled.reason}`;
    case 'cancel': {
      if (settled.who === 'person') return 'interrupted';
      return settled.isUnanswered ? `canceled: ${UNANSWERED}` : 'canceled';
    }
  }
}

/** Limits of a question: characters of the prompt, characters of a choice, and number of choices. */
const MAX = { prompt: 300, label: 60, choices: 20 };

function unanswered({ prompt, choices }: UserChoice): Trouble {
  const named = choices
    .slice(0, MAX.choices)
    .map((choice, index) => `${index} ${truncate(choice, MAX.label)}`);
  const rest = choices.length - named.length;
  return {
    code: 'decision-needed',
    message: `the tool asks "${truncate(prompt, MAX.prompt)}", but no answer was given`,
    hint: `Answer with --choose <index, label or default>: ${named.join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.`,
  };
}

function errorText(exchange: Pick<Exchange, 'settled'>): string {
  const outcome = outcomeOf(exchange);
  return outcome?.type === 'error' ? outcome.message : '';
}

function settlementFailure(
  exchange: Exchange,
  untracked: UntrackedRequests,
  settled: Settlement,
): Trouble | null {
  const message = errorText(exchange);
  switch (settled.by) {
    case 'result':
    case 'answer':
      return null;
    case 'refusal':
      return { code: 'bad-acknowledgement', message, hint: refusalHint(exchange, settled.status) };
    case 'unreachable': {
      const { reason, output: faults = [] } = settled;
      if (reason !== undefined)
        return { code: 'unreachable', message, hint: 'See its log; use -v to show its stderr.', faults };
      const isReached = settled.phase === 'send' || settled.phase === 'answer';
      const hint = isReached
        ? 'The tool may have failed while it read the invocation: see its log.'
        : 'Check that the tool is running and its endpoint is correct.';
      return { code: 'unreachable', message: `${exchange.endpoint}: ${message}`, hint };
    }
    case 'timeout':
      return timeoutFailure(exchange, untracked, formatDuration(settled.afterMs));
    case 'denial': {
      const denied = { code: 'denied', message: settlementText(settled) } as const;
      const hint = 'Change the rules in the --policy file to allow the call.';
      return settled.who === 'policy' ? { ...denied, hint } : denied;
    }
    case 'cancel':
      return settled.who === 'person'
        ? { code: 'interrupted', message: 'interrupted before the result arrived' }
        : { code: 'decision-needed', message: settlementText(settled) };
  }
}

function refusalHint({ dialect, endpoint }: Exchange, status: number): string {
  if (dialect === 'mcp') return "See the server's log.";
  if (status >= 500)
    return 'The tool failed to accept the invocation; see its log. Set the number of retries with --retries.';
  if (status === 401) return 'Give a token with --bearer <token | env:NAME>, or a header with -H.';
  if (status === 404)
    return `Usually nothing is served at the toolset's endpoint ${endpoint} then: correct the endpoint, or the route of the tool.`;
  if (status === 429) return 'The tool limits the rate of calls; wait before you call it again.';
  if (status >= 400)
    return 'A request that got a 4xx is not retried (RT-NORETRY). Fix the request or the tool.';
  if (status >= 300) return "Redirects are not followed; put the final URL into the toolset's endpoint.";
  return 'Only 200 acknowledges an invocation (TOOL-ACK); use --lenient-ack to accept any 2xx.';
}

function timeoutFailure(exchange: Exchange, untracked: UntrackedRequests, time: string): Trouble {
  const { invocation, endpoint, dialect, questions } = exchange;
  const { operation } = invocation;
  const failure = (message: string, hint: string): Trouble => ({ code: 'timeout', message, hint });
  if (questions.some(({ message, isAnswered }) => message.type === 'oauth' && !isAnswered))
    return failure(
      `consent was not given within ${time}: ${operation} waits for a user to visit its URL`,
      'Call again and visit the URL. Without --timeout, or on a terminal, the call waits without a limit.',
    );
  const sent = `timed out after ${time}: ${operation} was sent to ${endpoint}`;
  if (dialect === 'mcp') return failure(sent, timeoutHint(exchange, untracked));
  const gone = isGone(exchange, untracked) ? '; the tool no longer answers' : '';
  const hint = gone === '' ? timeoutHint(exchange, untracked) : GONE_HINT;
  const answered = answeredAttempt(exchange);
  if (!answered) return failure(`${sent}, it was not acknowledged${gone}`, hint);
  const { bodySize: size = 0 } = acknowledgementOf(exchange) ?? {};
  const body = size > 0 ? `, and a body of ${bytesText(size)}` : '';
  const missing = missingResult(exchange, untracked);
  const end = missing === '' ? '' : `, ${missing}`;
  return failure(`${sent}, it was acknowledged with ${answered.status}${body}${end}${gone}`, hint);
}

/** What came of the result. */
function missingResult(exchange: Exchange, untracked: UntrackedRequests): string {
  const { arrivals } = exchange;
  const late = lateResult(exchange);
  if (late) return `and its result arrived ${late} too late`;
  if (arrivals.length === 0)
    return `and ${untracked.hasStrays ? 'nothing was posted to its callback URL' : 'no callback has arrived'}`;
  if (!wereAccepted(exchange)) return '';
  const last =
    arrivals.at(-1)?.message?.type === 'user_choice' ? 'nothing came after it' : 'no result has arrived';
  const isAnswered = wasSelectionAccepted(exchange, untracked);
  return isAnswered
    ? `its response_url answered the selection with 200, and ${last}`
    : 'and no result has arrived';
}

function wereAccepted({ arrivals }: Exchange): boolean {
  return arrivals.every(({ verdict }) => verdict.status === 200);
}

function wasSelectionAccepted({ key }: Exchange, untracked: UntrackedRequests): boolean {
  const selections = untracked.ofCall(key).filter(({ purpose }) => purpose === 'choice');
  return selections.at(-1)?.status === 200;
}

const GONE_HINT = 'The tool ended, or closed its port: see its log, and start it again.';

/** Whether the tool refused the connection of a notice about the call. */
function isGone({ key, invocation }: Exchange, untracked: UntrackedRequests): boolean {
  const notices = [...untracked.ofCall(key), ...untracked.ofThread(invocation.group_id)];
  return notices.some(
    ({ purpose, broken }) => (purpose === 'close' || purpose === 'cancel') && broken === 'ECONNREFUSED',
  );
}

/** How long after the end of the call its result arrived; null if it did not. */
function lateResult({ arrivals, settled }: Exchange): string | null {
  const late = arrivals.find(
    ({ verdict, message }) => verdict.kind === 'late' && message?.type === 'tool_result',
  );
  return late && settled ? formatDuration(late.at - settled.at) : null;
}

/** The most likely reason: a late or refused callback, then whatever may block all callbacks. */
function timeoutHint(exchange: Exchange, untracked: UntrackedRequests): string {
  const moreTime = 'To wait longer, use --timeout.';
  if (exchange.dialect === 'mcp') return `The server was notified that the call is canceled. ${moreTime}`;
  if (lateResult(exchange)) return moreTime;
  const { callback_url } = exchange.invocation;
  const origin = URL.canParse(callback_url) ? new URL(callback_url).origin : callback_url;
  const [reason] = exchange.arrivals.flatMap(({ verdict }) =>
    verdict.kind === 'rejected' || verdict.kind === 'discarded' ? [verdict.reason] : [],
  );
  if (reason !== undefined) return `A callback arrived at ${origin} but was not accepted: ${reason}.`;
  if (untracked.ofCall(exchange.key).some(({ purpose, status }) => purpose === 'choice' && status !== 200))
    return 'The tool asked for a choice, but the selection did not reach its response_url. The tool may still be waiting.';
  if (untracked.hasStrays)
    return `A request was posted to ${origin} but not to the callback URL. The tool must use the callback URL unchanged.`;
  if (!answeredAttempt(exchange))
    return `The tool accepted the connection but did not answer. It must answer 200 before it starts to work. ${moreTime}`;
  const reached = wasSelectionAccepted(exchange, untracked)
    ? 'The tool got the selection'
    : 'The tool reached its callback URL';
  const advice =
    exchange.arrivals.length === 0
      ? `Check that the tool can reach its callback URL at ${origin} (--callback-url sets another address)`
      : `${reached}, but sent no result: see its log`;
  return [...acknowledgementHint(exchange), `${advice}, or wait longer with --timeout.`].join(' ');
}

/** Hints at a body of the acknowledgement: returning the result in it is the most common mistake. */
function acknowledgementHint(exchange: Exchange): string[] {
  const { bodySize: size = 0 } = acknowledgementOf(exchange) ?? {};
  if (size === 0) return [];
  return [
    `The body of the 200 (${bytesText(size)}) is ignored; the tool must POST the result to callback_url.`,
  ];
}

/** The indent of the rows that follow. */
const INDENT = say('', 'gutter');

function indentedLine(text: string): Line {
  return [say('    ', 'gutter'), ...quote(text)];
}

/** Why the result is missing, and the warnings. */
export function problemLines(
  warnings: readonly Warning[],
  failure: Omit<Trouble, 'code'> | null = null,
  title = 'PROBLEMS',
): Line[] {
  if (warnings.length === 0 && !failure) return [];
  const { message, hint, faults = [] } = failure ?? {};
  return [
    [say(title, 'title')],
    ...(message === undefined ? [] : [[say('✗ ', 'bad'), INDENT, ...quote(message)]]),
    ...faults.map(indentedLine),
    ...(hint === undefined ? [] : [[say('  ', 'gutter'), ...quote(hint, 'dim')]]),
    ...warnings.flatMap(({ id, message: text, details = [] }): Line[] => {
      const about = id ? [say(` [${id}]`, 'dim')] : [];
      return [[say('! ', 'warn'), INDENT, ...quote(text), ...about], ...details.map(indentedLine)];
    }),
  ];
}

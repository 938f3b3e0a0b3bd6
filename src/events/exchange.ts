import type { ValidReading } from '../dialects/dialect.js';
import type { Callback, OAuth, QuestionMessage, ToolResult, UserChoice } from '../protocol/callbacks.js';
import type { Invocation } from '../protocol/invocation.js';
import { type JudgedOutcome, llmText, outcomeOfText, textOfOutcome } from '../protocol/outcome.js';
import type { Warning } from '../protocol/requirements.js';
import { truncateBeforeToken } from '../util/text.js';

/** What a callback means for its exchange, and the status of the response. */
export type Verdict =
  /** The result of the pending call. */
  | { readonly kind: 'settles'; readonly status: 200 }
  /** A question to the user: the call stays pending (RT-PENDING). */
  | { readonly kind: 'holds'; readonly status: 200 }
  /** An event or a view. */
  | { readonly kind: 'noted'; readonly status: 200 }
  /** Too many questions are open. */
  | { readonly kind: 'ignored'; readonly status: 200; readonly reason: string }
  /** A further result: the first wins (RT-DUP). */
  | { readonly kind: 'duplicate'; readonly status: 200; readonly identical: boolean }
  /** It came after a timeout or a cancel. */
  | { readonly kind: 'late'; readonly status: 200 }
  /** It names another call (RT-MATCH). */
  | { readonly kind: 'discarded'; readonly status: 404; readonly reason: string }
  /** It is not a valid callback (RT-VALIDATE), or the listener's guard refused it. */
  | { readonly kind: 'rejected'; readonly status: number; readonly reason: string };

export type VerdictKind = Verdict['kind'];

/** One attempt to send the invocation. Times in ms since the start. */
export interface Attempt {
  readonly leg: string;
  readonly sentAt: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** Bytes of the response body, as announced or received. */
  readonly bodySize?: number;
  /** Whether the body of the acknowledgement has an outcome, which no runtime reads (TOOL-ASYNC). */
  readonly hasOutcome?: true;
  /** The body of a refusal. */
  readonly excerpt?: string;
  readonly broken?: { readonly phase: string; readonly code: string };
}

/** How far a call is. */
export interface Progress {
  readonly progress: number;
  readonly total?: number | undefined;
  readonly message?: string | undefined;
}

/** One POST to the callback URL of the call. */
export interface Arrival {
  readonly leg: string;
  readonly at: number;
  readonly verdict: Verdict;
  readonly message: Callback | null;
  readonly sha256: string;
  readonly size: number;
  readonly warnings: readonly Warning[];
  /** Over MCP, the parameters of `notifications/progress`. */
  readonly progress?: Progress;
  /** Over MCP, the method of any other notification. */
  readonly notification?: string;
  /** The status of the response; in a recording, the recorded status. */
  readonly status?: number;
  readonly broken?: string;
}

/** What ended the pending call. Only the first counts. */
export type Settlement = { readonly at: number } & (
  | { readonly by: 'result'; readonly result: ToolResult; readonly native: unknown; readonly sha256: string }
  /** Over MCP, where the response is the result. */
  | ({ readonly by: 'answer' } & McpAnswer)
  | { readonly by: 'refusal'; readonly status: number; readonly excerpt: string }
  | {
      readonly by: 'unreachable';
      readonly phase: string;
      readonly code: string;
      readonly attempts: number;
      /** Details beyond the code, if known: the server exited. */
      readonly reason?: string;
      /** The last output of a server that exited. */
      readonly output?: readonly string[];
    }
  | { readonly by: 'timeout'; readonly afterMs: number }
  /** `isUnanswered`: because nobody answered its question. */
  | { readonly by: 'cancel'; readonly who: 'person' | 'flag' | 'policy'; readonly isUnanswered?: true }
  | {
      readonly by: 'denial';
      readonly who: 'person' | 'policy';
      readonly tool: string;
      readonly reason: string;
    }
);

/** Opened by a result with `subscription: true` (RT-SUB). */
export interface Subscription {
  readonly openedAt: number;
  /** The number of accepted events. */
  readonly events: number;
  readonly ended: SubscriptionEnd | null;
}

/** How a subscription ended. */
export type SubscriptionEnd = { readonly at: number } & (
  | { readonly by: 'final'; readonly sha256: string }
  | { readonly by: 'cancel'; readonly who: 'person' | 'flag' | 'policy' }
  | { readonly by: 'close' }
);

/** A question of the tool, and whether it was answered. */
export interface Question {
  readonly leg: string;
  readonly message: QuestionMessage;
  readonly isAnswered: boolean;
}

/** The answer to a question with choices. */
export interface Selection {
  /** The leg on which the question came. */
  readonly question: string;
  readonly at: number;
  readonly by: 'person' | 'flag' | 'policy';
  /** Index from 0. */
  readonly selected: number;
}

/**
 * One invocation and all that followed: the value that `step` folds events into.
 * @example
 * const isPending = ({ settled }: Exchange) => settled === null;
 */
export interface Exchange {
  readonly key: string;
  /** Default: RAP. */
  readonly dialect?: 'mcp';
  /** Over MCP without a callback URL and a thread. */
  readonly invocation: Invocation;
  readonly endpoint: string;
  readonly attempts: readonly Attempt[];
  /** Oldest first. Beyond a limit, old ones are dropped, but not the result and open questions. */
  readonly arrivals: readonly Arrival[];
  /** The number of dropped arrivals. */
  readonly forgotten: number;
  /** Digests of dropped results and questions, to detect duplicates. */
  readonly remembered: ReadonlySet<string>;
  /** How many callbacks that name this call were posted to a wrong address. */
  readonly misdirected: number;
  readonly questions: readonly Question[];
  /** The oldest open question; the timeout is paused while it is open (RT-PENDING). */
  readonly waitingFor: Question['message'] | null;
  readonly selections: readonly Selection[];
  readonly settled: Settlement | null;
  readonly subscription: Subscription | null;
  /** The legs of the notices that canceled it. */
  readonly cancelLegs: readonly string[];
  /** When the tool first answered such a notice with 200; null if it did not. */
  readonly cancelAcknowledgedAt: number | null;
}

export function isSubscribed({ subscription }: Exchange): boolean {
  return subscription !== null && subscription.ended === null;
}

/** Whether its result or subscription events may still come. */
export function isUnderWay(exchange: Exchange): boolean {
  return exchange.settled === null || isSubscribed(exchange);
}

/** Whether it can be canceled: a pending result, or an open subscription, including one that a late result opened. */
export function canBeCanceled(exchange: Exchange): boolean {
  const subscribesLate = ({ verdict, message }: Arrival) =>
    verdict.kind === 'late' && message?.type === 'tool_result' && message.subscription === true;
  return isUnderWay(exchange) || exchange.arrivals.some(subscribesLate);
}

/** The open questions, oldest first; none after the call has ended. */
export function openQuestions({ questions, settled }: Pick<Exchange, 'questions' | 'settled'>): Question[] {
  return settled ? [] : questions.filter(({ isAnswered }) => !isAnswered);
}

export function openChoices(exchange: Pick<Exchange, 'questions' | 'settled'>): UserChoice[] {
  return openQuestions(exchange).flatMap(({ message }) => (message.type === 'user_choice' ? [message] : []));
}

export function openPages(exchange: Pick<Exchange, 'questions' | 'settled'>): OAuth[] {
  return openQuestions(exchange).flatMap(({ message }) => (message.type === 'oauth' ? [message] : []));
}

/** Maximum time by which a result may be read before its acknowledgement, in ms: they come on different connections. */
export const ACK_TOLERANCE_MS = 100;

/** A slower acknowledgement was not sent at once, in ms. */
export const ACK_SLOW_MS = 250;

/** Maximum time after the acknowledgement of a cancel in which earlier events of a subscription may still come, in ms. */
export const CANCEL_GRACE_MS = 500;

/**
 * Whether the tool sent an event after it had acknowledged the cancel (TOOL-SUB). A single late event may have been on its way, however
 * long that took; an event that follows another one was not.
 * @param answered when the events came that were answered before this one came; a failed one is sent again
 */
export function isSentAfterCancel(at: number, acknowledgedAt: number, answered: readonly number[]): boolean {
  return at > acknowledgedAt + CANCEL_GRACE_MS && answered.some(each => each > acknowledgedAt);
}

/** The attempt with a response; undefined over MCP, which has no acknowledgement. */
export function answeredAttempt({ attempts, dialect }: Exchange): Attempt | undefined {
  if (dialect === 'mcp') return undefined;
  return attempts.findLast(attempt => attempt.status !== undefined);
}

/** The attempt that was answered 200. */
export function acknowledgementOf(exchange: Exchange): Attempt | undefined {
  const attempt = answeredAttempt(exchange);
  return attempt?.status === 200 ? attempt : undefined;
}

/** Milliseconds to the 200; null without a 200. */
export function acknowledgedAfter(exchange: Exchange): number | null {
  const { sentAt, endedAt } = acknowledgementOf(exchange) ?? {};
  return sentAt !== undefined && endedAt !== undefined ? endedAt - sentAt : null;
}

/** Milliseconds from the dispatch to the result; null without a result. */
export function resultAfter({ settled, attempts: [first] }: Exchange): number | null {
  const isResult = settled?.by === 'result' || settled?.by === 'answer';
  return isResult && first ? settled.at - first.sentAt : null;
}

/** Why an invocation was not answered. */
function brokenText({ phase, code }: Readonly<Record<'phase' | 'code', string>>): string {
  const isReached = phase === 'send' || phase === 'answer';
  return isReached
    ? `the tool accepted the connection and did not answer (${code})`
    : `the tool could not be reached (${code})`;
}

const EXCERPT = 1_000;

/**
 * How the call ended; null while pending.
 * @example
 * outcomeOf(await tool.invoke('echo', { text: 'hi' }))?.type; // success
 */
export function outcomeOf({ settled }: Pick<Exchange, 'settled'>): JudgedOutcome | null {
  return settled && judged(settled);
}

/**
 * Exactly what the LLM gets: the tool's text, or the text of an outcome of our own; null while pending.
 * @example
 * llmTextOf(await tool.invoke('echo', { text: 'hi' })); // hi
 */
export function llmTextOf({ settled }: Pick<Exchange, 'settled'>): string | null {
  if (settled?.by === 'result') return llmText(settled.result);
  if (settled?.by === 'answer') return settled.text;
  return settled && textOfOutcome(judged(settled));
}

export const UNANSWERED = 'its question was not answered';

function judged(settled: Settlement): JudgedOutcome {
  switch (settled.by) {
    case 'result':
      return outcomeOfText(llmText(settled.result));
    case 'answer':
      return settled.outcome;
    case 'refusal':
      return { type: 'error', message: refusalText(settled.status, settled.excerpt), basis: 'ours' };
    case 'unreachable':
      return {
        type: 'error',
        message: settled.reason ?? brokenText(settled),
        basis: 'ours',
      };
    case 'timeout':
      return { type: 'timeout', durationMs: settled.afterMs, basis: 'ours' };
    case 'denial':
      return { type: 'denied', tool: settled.tool, reason: settled.reason, basis: 'ours' };
    case 'cancel':
      if (settled.isUnanswered) return { type: 'canceled', reason: UNANSWERED, by: 'system', basis: 'ours' };
      return { type: 'canceled', by: settled.who === 'person' ? 'user' : 'policy', basis: 'ours' };
  }
}

function refusalText(status: number, excerpt: string): string {
  const said = truncateBeforeToken(excerpt.trim(), EXCERPT);
  return `the tool did not accept the invocation: it answered ${status} instead of 200${said ? `: ${said}` : ''}`;
}

/** The response to `tools/call`, parsed once: it may have 50 MiB. */
export interface McpAnswer {
  /** The body as received: a CallToolResult, or `{error: {code, message}}`. */
  readonly native: unknown;
  /** Null if the body is not a CallToolResult. */
  readonly reading: ValidReading | null;
  readonly outcome: JudgedOutcome;
  /** What the LLM gets. */
  readonly text: string;
  /** Warnings about its format. */
  readonly notes: readonly string[];
}

import type { ToolResult } from '../protocol/callbacks/tool-result.js';
import type { Callback, Progress } from '../protocol/callbacks.js';
import { type JudgedOutcome, llmText, outcomeOfText, textOfOutcome } from '../protocol/outcome.js';
import type { Invocation } from '../protocol/read-invocation.js';
import type { Warning } from '../protocol/requirements.js';
import { cut } from '../util/json-diagnosis.js';
import type { Verdict } from './discovery-of.js';
import type { McpAnswer } from './mcp-answer.js';

/** One dispatch of the invocation. `status` or `broken` once it is known what became of it. */
export interface Attempt {
  readonly leg: string;
  readonly sentAt: number;
  readonly endedAt?: number;
  readonly status?: number;
  /** Bytes of the answer's body: as many as it said, or as came of it. */
  readonly bodySize?: number;
  /** The beginning of a refusal's body, for a person. */
  readonly excerpt?: string;
  readonly broken?: { readonly phase: string; readonly code: string };
}

/** One POST to the call's callback URL, and what was judged of it. */
export interface Arrival {
  readonly leg: string;
  readonly at: number;
  readonly verdict: Verdict;
  readonly message: Callback | null;
  readonly sha256: string;
  readonly size: number;
  readonly warnings: readonly Warning[];
  /** Of MCP's progress notifications. */
  readonly progress?: Progress;
  /** What was answered, once it was. In a recording that is what the runtime answered, whatever the verdict. */
  readonly status?: number;
  /** Why there was no answer. */
  readonly broken?: string;
}

/** What ended the pending call. Only the first counts. */
export type Settlement = { readonly at: number } & (
  | { readonly by: 'result'; readonly result: ToolResult; readonly native: unknown; readonly sha256: string }
  /** On an MCP wire, whose response is the result. */
  | ({ readonly by: 'answer' } & McpAnswer)
  | { readonly by: 'refusal'; readonly status: number; readonly excerpt: string }
  | {
      readonly by: 'unreachable';
      readonly phase: string;
      readonly code: string;
      readonly attempts: number;
      /** In words, where more is known than the code: the server exited. */
      readonly reason?: string;
    }
  | { readonly by: 'timeout'; readonly afterMs: number }
  | { readonly by: 'cancel'; readonly who: 'person' | 'flag' | 'policy' }
  | {
      readonly by: 'denial';
      readonly who: 'person' | 'policy';
      readonly tool: string;
      readonly reason: string;
    }
);

/** What a result with `subscription: true` opens (RT-SUB). */
export interface Subscription {
  readonly openedAt: number;
  /** How many events counted. */
  readonly events: number;
  readonly ended: SubscriptionEnd | null;
}

export type SubscriptionEnd = { readonly at: number } & (
  | { readonly by: 'final'; readonly sha256: string }
  | { readonly by: 'cancel'; readonly who: 'person' | 'flag' | 'policy' }
  | { readonly by: 'close' }
);

/** What a person is asked: a consent, or a choice. */
export interface Question {
  /** On which it came. */
  readonly leg: string;
  readonly message: Extract<Callback, { type: 'oauth' | 'user_choice' }>;
  readonly isAnswered: boolean;
}

/** What was picked of a question's choices. */
export interface Selection {
  /** The leg on which the question came. */
  readonly question: string;
  readonly at: number;
  readonly by: 'person' | 'flag' | 'policy';
  /** Index from 0. */
  readonly selected: number;
}

/** One invocation and what followed: the value that `step` folds events into. */
export interface Exchange {
  readonly key: string;
  /** The protocol; default: RAP. */
  readonly dialect?: 'mcp';
  /** Of MCP it has neither a callback URL nor a thread of its own. */
  readonly invocation: Invocation;
  readonly endpoint: string;
  /** The line for people that the display script of its tool makes of it, or `name(arguments)` where the script cannot be run. */
  readonly shown?: string;
  readonly attempts: readonly Attempt[];
  /** Oldest first. Where there are very many, the oldest are forgotten: not the result, nor what is still asked. */
  readonly arrivals: readonly Arrival[];
  /** How many arrivals are not kept any more. */
  readonly forgotten: number;
  /** Digests of forgotten results and questions: one that comes again is known. */
  readonly remembered: ReadonlySet<string>;
  /** Oldest first. */
  readonly questions: readonly Question[];
  /** The oldest open question. A person's turn: the clock stands still meanwhile (RT-PENDING). */
  readonly waitingFor: Question['message'] | null;
  /** In the order in which they were made. */
  readonly selections: readonly Selection[];
  readonly settled: Settlement | null;
  readonly subscription: Subscription | null;
}

/** Whether events may still come that count. */
export function isSubscribed({ subscription }: Exchange): boolean {
  return subscription !== null && subscription.ended === null;
}

/** Whether something may still come of it: its result, or events that count. */
export function isUnderWay(exchange: Exchange): boolean {
  return exchange.settled === null || isSubscribed(exchange);
}

/** Whether a pending result or an open subscription can be canceled. */
export function canBeGivenUp(exchange: Exchange): boolean {
  return exchange.settled === null || isOpen(exchange);
}

/** Whether a subscription is open, including one that a late result opened. */
export function isOpen(exchange: Exchange): boolean {
  return isSubscribed(exchange) || exchange.arrivals.some(subscribesLate);
}

function subscribesLate({ verdict, message }: Arrival): boolean {
  return verdict.kind === 'late' && message?.type === 'tool_result' && message.subscription === true;
}

/**
 * The acknowledgement and a result come on connections of their own, and what was sent first may be read second: that the result was
 * first is said only where it was by more than this, in ms.
 */
export const ACK_TOLERANCE_MS = 100;

/** An acknowledgement that takes longer was hardly sent at once, in ms. */
export const ACK_SLOW_MS = 250;

/** Whether the tool answered only after its result (TOOL-ACK). */
export function isAcknowledgedLate(exchange: Exchange): boolean {
  const { settled } = exchange;
  if (settled?.by !== 'result') return false;
  const { endedAt = Number.POSITIVE_INFINITY } = answeredAttempt(exchange) ?? {};
  return endedAt - settled.at > ACK_TOLERANCE_MS;
}

/** The attempt that was acknowledged, or refused, if one was; MCP knows no acknowledgement. */
export function answeredAttempt({ attempts, dialect }: Exchange): Attempt | undefined {
  if (dialect === 'mcp') return undefined;
  return attempts.findLast(attempt => attempt.status !== undefined);
}

/** The body size of the acknowledgement, which must be empty (TOOL-ASYNC). */
export function unreadSize(exchange: Exchange): number {
  const attempt = answeredAttempt(exchange);
  return attempt?.status === 200 ? (attempt.bodySize ?? 0) : 0;
}

/** Milliseconds from the attempt that was answered to its 200; null where there was none. */
export function acknowledgedAfter(exchange: Exchange): number | null {
  const attempt = answeredAttempt(exchange);
  return attempt?.status === 200 && attempt.endedAt !== undefined ? attempt.endedAt - attempt.sentAt : null;
}

const EXCERPT = 200;

/** How the call ended; null while it is pending. */
export function outcomeOf({ settled }: Exchange): JudgedOutcome | null {
  return settled && judged(settled);
}

/** Exactly what the LLM gets: the tool's text, or the words for an outcome of our own making; null while it is pending. */
export function llmTextOf({ settled }: Exchange): string | null {
  if (settled?.by === 'result') return llmText(settled.result);
  if (settled?.by === 'answer') return settled.text;
  return settled && textOfOutcome(judged(settled));
}

function judged(settled: Settlement): JudgedOutcome {
  switch (settled.by) {
    case 'result':
      return outcomeOfText(llmText(settled.result));
    case 'answer':
      return settled.outcome;
    case 'refusal':
      return { type: 'error', message: refusalText(settled.status, settled.excerpt), basis: 'ours' };
    case 'unreachable':
      return { type: 'error', message: unreachableText(settled), basis: 'ours' };
    case 'timeout':
      return { type: 'timeout', durationMs: settled.afterMs, basis: 'ours' };
    case 'denial':
      return { type: 'denied', tool: settled.tool, reason: settled.reason, basis: 'ours' };
    case 'cancel':
      return { type: 'canceled', by: settled.who === 'person' ? 'user' : 'policy', basis: 'ours' };
  }
}

export function unreachableText({ reason, code }: Extract<Settlement, { by: 'unreachable' }>): string {
  return reason ?? `the tool could not be reached (${code})`;
}

function refusalText(status: number, excerpt: string): string {
  const said = cut(excerpt.trim(), EXCERPT);
  return `the tool did not accept the invocation: it answered ${status} instead of 200${said ? `: ${said}` : ''}`;
}

import { outcomeOfText } from '../../outcome/conventions.js';
import { llmText } from '../../protocol/llm-text.js';
import { calledOffAt } from './called-off.js';
import { soundsLikeError } from './error-words.js';
import type { CallbackEvidence, CallEvidence } from './evidence.js';
import { type Leg, statusOf } from './leg.js';
import { toldAs, typeIn } from './messages.js';
import { vainWait } from './windows.js';

/** What a call came to, as far as it was seen. */
export type Ending =
  /** `isError`: by convention, or it reads like one. */
  | {
      readonly kind: 'result';
      readonly callback: CallbackEvidence;
      readonly text: string;
      readonly isError: boolean;
    }
  /** It waits for a person. */
  | { readonly kind: 'asked'; readonly callback: CallbackEvidence }
  | { readonly kind: 'refused'; readonly attempt: Leg; readonly status: number }
  /** Something came, and nobody can say what it was. */
  | { readonly kind: 'unreadable'; readonly callback: CallbackEvidence }
  /** Nothing came in time. */
  | { readonly kind: 'silent'; readonly afterMs: number }
  /** Nobody wants it any more. */
  | { readonly kind: 'called-off' }
  /** `cut-short`: its tool died of something else. */
  | { readonly kind: 'unanswered' | 'open' | 'cut-short' };

export function endingOf(call: CallEvidence): Ending {
  return resulted(call) ?? turnedAway(call) ?? wentAstray(call) ?? absence(call);
}

function resulted(call: CallEvidence): Ending | null {
  const [first] = toldAs(call, 'tool_result');
  if (!first || isAfterVainWait(first.callback, call)) return null;
  const text = llmText(first.message);
  const isError = outcomeOfText(text).type !== 'success' || soundsLikeError(text, call);
  return { kind: 'result', callback: first.callback, text, isError };
}

/** Waited for in vain, the call was called off: what comes then follows from that. */
function isAfterVainWait({ request }: CallbackEvidence, call: CallEvidence): boolean {
  const wait = vainWait(call);
  const end = calledOffAt(call);
  return wait !== undefined && wait.seq < end && end < request.seq;
}

function turnedAway({ attempts }: CallEvidence): Ending | null {
  const attempt = attempts.findLast(each => statusOf(each) !== null);
  const status = attempt ? statusOf(attempt) : null;
  return attempt && status !== null && status !== 200 ? { kind: 'refused', attempt, status } : null;
}

/** A question may be one that breaks its schema: that is another matter. */
function wentAstray({ callbacks }: CallEvidence): Ending | null {
  const question = callbacks.find(each => ['oauth', 'user_choice'].includes(typeIn(each) ?? ''));
  if (question) return { kind: 'asked', callback: question };
  const unreadable = callbacks.find(({ reading }) => reading?.ok !== true);
  return unreadable ? { kind: 'unreadable', callback: unreadable } : null;
}

function absence(call: CallEvidence): Ending {
  const wait = vainWait(call);
  if (calledOffAt(call) < (wait?.seq ?? Number.POSITIVE_INFINITY)) return { kind: 'called-off' };
  if (!call.attempts.some(each => statusOf(each) === 200)) return { kind: 'unanswered' };
  if (call.isCutShort) return { kind: 'cut-short' };
  return wait ? { kind: 'silent', afterMs: wait.afterMs } : { kind: 'open' };
}

import { basisWords } from '../basis-words.js';
import type { Line } from '../line.js';
import { quote, say } from '../spans.js';
import { stepLine } from '../step-line.js';
import { after, type Step, step } from '../steps/step.js';

/** As much of the object of `invoke -o json` as its steps are told from. */
export interface ReportedCall {
  readonly invocation?: { readonly operation: string } | undefined;
  readonly endpoint?: string | undefined;
  readonly acknowledgement?: { readonly status: number; readonly ms: number } | null | undefined;
  readonly outcome?: { readonly type: string; readonly basis?: string | undefined } | null | undefined;
  readonly callbacks?: readonly ReportedCallback[] | undefined;
}

export interface ReportedCallback {
  readonly type: string | null;
  readonly ms: number;
  readonly verdict: string;
  /** Null where a recorded runtime did not answer. */
  readonly status: number | null;
  /** Where a recorded runtime answered otherwise than this program would. */
  readonly ourStatus?: number | undefined;
  readonly reason?: string | undefined;
  /** Of an event. */
  readonly text?: string | undefined;
}

/** What a report tells of its call, step by step; times count from its first request. */
export function reportLines(call: ReportedCall): Line[] {
  return reportSteps(call).map(each => stepLine(each));
}

function reportSteps({
  invocation,
  endpoint,
  acknowledgement,
  outcome,
  callbacks = [],
}: ReportedCall): Step[] {
  const ended = outcome && outcome.type !== 'success' ? [outcomeStep(outcome)] : [];
  return [
    ...(invocation ? [sentStep(invocation.operation, endpoint)] : []),
    ...(acknowledgement ? [answerStep(acknowledgement)] : []),
    ...callbacks.map(callbackStep),
    ...ended,
  ];
}

function sentStep(operation: string, endpoint = ''): Step {
  const where = endpoint === '' ? [] : [say(' to '), ...quote(endpoint)];
  return step('sent', 0, 'done', say('sent '), ...quote(operation, 'title'), ...where);
}

function answerStep({ status, ms }: NonNullable<ReportedCall['acknowledgement']>): Step {
  if (status === 200) return step('answer', ms, 'done', say('acknowledged with 200'), after(ms));
  return step('answer', ms, 'failed', say(`answered ${status} instead of 200`), after(ms));
}

function callbackStep(callback: ReportedCallback, index: number): Step {
  const { type, ms, verdict, status, ourStatus = status, reason, text } = callback;
  const what = quote(type ?? 'callback', 'title');
  const words = reason ?? text;
  const why = words === undefined ? [] : [say(': '), ...quote(words)];
  if (verdict === 'settles') return step(`callback:${index}`, ms, 'done', say('result'), after(ms));
  const isOurs = status !== null && ourStatus === status;
  const answer = isOurs
    ? []
    : [say(status === null ? '; the runtime did not answer' : `; the runtime answered ${status}`)];
  const told = [
    ...what,
    say(' '),
    ...quote(verdict),
    ...(isOurs ? [say(` with ${status}`)] : []),
    ...why,
    ...answer,
  ];
  const state = ourStatus === 200 ? 'note' : 'failed';
  return step(`callback:${index}`, ms, state, ...told, after(ms));
}

function outcomeStep({ type, basis }: NonNullable<ReportedCall['outcome']>): Step {
  const by = basis === undefined ? [] : [say(' ('), ...quote(basisWords(basis)), say(')')];
  return step('outcome', 0, 'failed', say('outcome '), ...quote(type), ...by);
}

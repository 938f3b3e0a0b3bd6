import { refusalTexts } from '../events/refusal.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { RequirementId } from '../protocol/requirements.js';
import { isNullRefused, type Lost, withPrice } from '../protocol/strictness.js';
import { joinFirst, truncateBeforeToken } from '../util/text.js';
import { visibleLine } from '../util/visible.js';
import type { CallEvidence } from './call.js';
import type { CallbackEvidence } from './callback-evidence.js';
import type { Evidence } from './evidence.js';
import { type Details, type Observation, requestSpot, type Spot, violatedIfComplete } from './rule.js';
import type { ToolCrash } from './server-end.js';

export function statusMismatch({ status }: RoundTrip, expected = '200'): Details {
  return { expected, actual: String(status) };
}

/** As {@link statusMismatch}, of a callback that the runtime should have accepted. */
export function wrongRefusalDetails(callback: RoundTrip): Details {
  return {
    ...statusMismatch(callback),
    advice: 'Answer 200 to a callback whose ids are those of a pending call or an open subscription.',
  };
}

/** Maximum length of a quoted text or id, in characters: far longer than what people write, so that a report has it whole. */
export const MAX_QUOTE_LENGTH = 1_000;

/** As {@link statusMismatch}, with what the answer says: where it redirects to, or the messages in its body. */
export function refusalDetails(trip: RoundTrip, expected = '200'): Details {
  const { request, response } = trip;
  const texts = response ? refusalTexts(response, request.url) : [];
  const faults = texts.map(text => truncateBeforeToken(visibleLine(text), MAX_QUOTE_LENGTH));
  return { ...statusMismatch(trip, expected), ...(faults.length > 0 && { faults }) };
}

/** What to do about a call that timed out: the protocol has no time limit, so silence alone proves nothing. Begins with a colon. */
export function timeoutAdvice({ timeout }: CallEvidence, { isLive }: Pick<Evidence, 'isLive'>): string {
  if (timeout?.what === 'timeout') return ": raise the caller's --timeout if the tool takes longer";
  return isLive ? ': raise --probe-timeout if the tool takes longer' : '';
}

const MAX_FAULT_LENGTH = 300;

/** An error of a document or a message, cut and safe to print. */
export function faultLine(fault: string): string {
  return truncateBeforeToken(visibleLine(fault), MAX_FAULT_LENGTH);
}

/** One remark on optional members that are null. */
export function nullRemark(paths: readonly string[] = [], lost: Lost): readonly string[] {
  if (paths.length === 0) return [];
  const remark = 'null counts as absent for an optional member; leave it out instead';
  const text = truncateBeforeToken(`${remark}: ${joinFirst(paths, 3)}`, MAX_FAULT_LENGTH);
  return [isNullRefused(paths) ? withPrice(text, lost) : text];
}

/** Maximum number of items of a result that are shown. */
const MAX_ITEMS = 3;

/** What the model got of a result: its text, or the texts of its content. */
export function resultSpots(callback: CallbackEvidence): readonly Spot[] {
  const { message } = callback;
  const content = message?.type === 'tool_result' ? message.content : undefined;
  if (!content?.length) return [requestSpot(callback, 'text')];
  const texts = content.flatMap(({ type }, index) =>
    type === 'text' ? [requestSpot(callback, 'content', index, 'text')] : [],
  );
  return texts.length > 0 ? texts.slice(0, MAX_ITEMS) : [requestSpot(callback, 'content')];
}

/**
 * The tool crashed after a message of this kind; null if it did not. During a check, requests follow immediately, so the message was the
 * cause; elsewhere the user may have stopped the tool, unless it cut the connection itself.
 * @param message in words: `a malformed payload`
 */
export function toolCrashObservation(
  evidence: Evidence,
  kind: ToolCrash['kind'],
  message: string,
): Observation | null {
  const { toolCrash, isProbed } = evidence;
  if (toolCrash?.kind !== kind) return null;
  const { later, others } = toolCrash;
  const code = toolCrash.message.broken && kind !== 'callback' ? ` (${toolCrash.message.broken.code})` : '';
  const more = others > 0 ? `; ${others} more had been sent by then` : '';
  const end = violatedIfComplete(
    `the tool stopped responding after ${message}${code}${more}`,
    [toolCrash.message, later],
    {
      about: toolCrash.message.events,
    },
  );
  const isCertain = isProbed || toolCrash.exit !== null || toolCrash.message.failure === 'cut';
  return isCertain ? { ...end, isFatal: true } : end;
}

/** Rules about the callbacks of a call: without a valid callback none of them can be judged. */
export const CALLBACK_RULES: readonly RequirementId[] = [
  'TOOL-POST',
  'TOOL-GROUP',
  'TOOL-ID',
  'TOOL-CALLID',
  'TOOL-ONCE',
  'TOOL-ISOLATE',
  'TOOL-OPAQUE',
  'TOOL-VALIDATE',
  'TOOL-UNKNOWN-OP',
  'TOOL-BAD-ARGS',
  'TOOL-MALFORMED',
  'TOOL-EXTRA',
  'TOOL-ERRPREFIX',
  'TOOL-SECRET',
  'TOOL-NOLEAK',
  'TOOL-RETRY',
  'TOOL-NORETRY',
];

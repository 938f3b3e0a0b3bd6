import type { EndEvent, RequestEvent } from '../events/events.js';
import { refusalTexts } from '../events/refusal.js';
import type { RoundTrip } from '../events/round-trips.js';
import type { Ability } from '../protocol/driver.js';
import type { RequirementId, Side } from '../protocol/requirements.js';
import { isNullRefused, type Lost, withPrice } from '../protocol/strictness.js';
import { formatDuration, joinFirst, truncateBeforeToken } from '../util/text.js';
import { visibleLine } from '../util/visible.js';
import type { CallbackEvidence, CallEvidence } from './call.js';
import type { Evidence } from './evidence.js';
import type { ToolCrash } from './server-end.js';

/** What a side of the protocol must do. */
export interface Requirement {
  readonly side: Side;
  /** RFC 2119 level; `none` if the protocol leaves it open. */
  readonly level: 'MUST' | 'SHOULD' | 'none';
  readonly statement: string;
  readonly advice: string;
  /** The page that contains it, with the quoted text if the page has it. */
  readonly source: {
    readonly page: 'Tool Invocation' | 'Tool Result' | 'public specification';
    readonly words?: string;
  };
}

/** Judges a requirement by what happened. Pure: a live run, a recording and a CI log are judged alike. */
interface Judging<Result> {
  /** Requirements that cannot be judged if this one fails. */
  readonly masks?: readonly RequirementId[];
  /** Returns each place where the requirement was met or not, in order. */
  readonly observe: (evidence: Evidence) => Result;
  /** The reason if there was nothing to observe: `no callback was answered 5xx`. */
  readonly absent: string;
  /** What the driver of a runtime must support, for a rule that HTTP traffic alone cannot show. */
  readonly needs?: readonly Ability[];
  /** When a SHOULD counts as a failure: `the tool crashes`. */
  readonly failsWhere?: string;
}

/** A requirement that HTTP traffic cannot show, and why. */
interface Unobservable {
  readonly unobservable: string;
  readonly masks?: never;
}

type Identified = Requirement & { readonly id: RequirementId };

export type ObservableRule = Identified & Judging<readonly Observation[]>;
export type Rule = ObservableRule | (Identified & Unobservable);

type Definition = Omit<Requirement, 'side' | 'source'> & {
  /** The quoted text, if it is on one of the two pages. */
  readonly invocationPage?: string;
  readonly resultPage?: string;
} & (Judging<Observed> | Unobservable);

/** Defines the rules of one topic by id. The prefix of the id names the side that must meet the rule. */
export function defineRules<Id extends RequirementId>(
  definitions: Readonly<Record<Id, Definition>>,
): Readonly<Record<Id, Rule>> {
  const rules = Object.entries<Definition>(definitions).map(([id, definition]) => {
    const { invocationPage, resultPage, ...rule } = definition;
    const about = { id, side: sideOf(id), source: sourceOf(invocationPage, resultPage) };
    if (!('observe' in rule)) return [id, { ...rule, ...about }];
    return [id, { ...rule, ...about, observe: (evidence: Evidence) => flat(rule.observe(evidence)) }];
  });
  return Object.fromEntries(rules);
}

function sideOf(id: string): Side {
  return id.startsWith('TOOL-') ? 'tool' : 'runtime';
}

function sourceOf(invocationPage: string | undefined, resultPage: string | undefined): Requirement['source'] {
  if (invocationPage !== undefined) return { page: 'Tool Invocation', words: invocationPage };
  if (resultPage !== undefined) return { page: 'Tool Result', words: resultPage };
  return { page: 'public specification' };
}

/** The findings of a part of a rule; null for none. */
export type Observed = Observation | null | readonly Observed[];

function flat(observed: Observed): readonly Observation[] {
  if (observed === null) return [];
  return 'kind' in observed ? [observed] : observed.flatMap(flat);
}

/** Where a finding is in a message: a member of its JSON, possibly missing, or a part of the text there. */
export interface Spot {
  readonly event: number;
  readonly path: readonly (string | number)[];
  readonly range?: readonly [from: number, to: number];
}

export function requestSpot({ request }: RoundTrip, ...path: Spot['path']): Spot {
  return { event: request.seq, path };
}

interface Details {
  /** What distinguishes this violation from others of its kind: the wrong id. */
  readonly name?: string;
  /** The single errors; shown after `what`. */
  readonly faults?: readonly string[];
  /** The events of the calls concerned, if other events are only evidence; default: all events. */
  readonly about?: readonly number[];
  readonly expected?: string;
  readonly actual?: string;
  /** How to fix it, if the events show more than the advice of the rule. */
  readonly advice?: string;
  readonly spots?: readonly Spot[];
}

/**
 * One place where a requirement was `met` or `violated`, with the events that prove it. `doubtful`: no violation, but not
 * good either. `unrecorded`: the events that would show it should be there and are not. `inconclusive`: too few events for a verdict, as expected.
 */
export interface Observation extends Details {
  readonly kind: 'met' | 'violated' | 'doubtful' | 'unrecorded' | 'inconclusive';
  readonly what?: string;
  readonly events: readonly number[];
  /** The scenario of the recording. */
  readonly scenario?: string;
  /** Whether the report shows it even if the rule passes. */
  readonly isRemarkable?: true;
  /** The violation is a missing event, which may be in a lost part of the recording. */
  readonly isByAbsence?: true;
  /** Whether the server exited before it could be seen. */
  readonly isCutOff?: true;
  /** Whether it is a failure at any level of the rule: a crashed tool meets no requirement. */
  readonly isFatal?: true;
}

/** A message with its events: a round trip, or a line of a driver. */
interface Proof {
  readonly events: readonly number[];
}

type Proofs = Proof | readonly Proof[];

function eventsOf(proofs: Proofs): readonly number[] {
  return [proofs].flat().flatMap(({ events }) => events);
}

const observationOf =
  (kind: Observation['kind'], more: Partial<Observation> = {}) =>
  (what: string, proofs: Proofs, details: Details = {}): Observation => ({
    kind,
    events: eventsOf(proofs),
    what,
    ...details,
    ...more,
  });

export function met(proofs: Proofs, what?: string): Observation {
  return { kind: 'met', events: eventsOf(proofs), ...(what !== undefined && { what }) };
}

/** As {@link met}, with a note for the user. */
export const metWithNote = observationOf('met', { isRemarkable: true });
export const violated = observationOf('violated');
/** As {@link violated}, but no violation if the recording is incomplete: the missing part may explain it. */
export const violatedIfComplete = observationOf('violated', { isByAbsence: true });
export const doubtful = observationOf('doubtful');
export const unrecorded = observationOf('unrecorded');
export const inconclusive = observationOf('inconclusive');
/** As {@link unrecorded}, because the server exited too early. */
export const cutOff = observationOf('unrecorded', { isCutOff: true });

/** Adds that the recording is incomplete, so the missing event may be in the lost part. */
export function possiblyLostText(what: string): string {
  return `${what}; the recording is incomplete`;
}

/** From this number of pauses on, pauses that do not grow are a finding. */
const MIN_PAUSES = 3;

const GROWTH = 1.25;

/** The pauses before the retries of a request, in ms. With the time in which the observer could not run, they are as long as they can be. */
export function pausesBetween(attempts: readonly RoundTrip[], isLongest = true): readonly number[] {
  const timeOf = ({ at, stalled = 0 }: RequestEvent | EndEvent) => (isLongest ? at + stalled : at);
  return attempts.slice(1).map(({ request }, index) => {
    const { end = null, request: earlier = request } = attempts[index] ?? {};
    return Math.max(0, timeOf(request) - timeOf(end ?? earlier));
  });
}

/** Judges the pauses between attempts, of which there is more than one. @param isHasty whether the pauses are too short, however they grow */
export function judgeRetries(
  attempts: readonly RoundTrip[],
  isHasty: (pauses: readonly number[]) => boolean,
): Observation {
  const pauses = pausesBetween(attempts);
  const isRepeated = pauses.length > 1;
  const isGrowing = growsIn(pauses) || growsIn(pausesBetween(attempts, false)); // each pause may have been measured too long or too short
  const retries = pauses.length === 1 ? '1 retry' : `${pauses.length} retries`;
  const after = pauses
    .map(formatDuration)
    .join(', ')
    .replace(/, (\S+)$/, ' and $1');
  const what = `${retries}, after ${after}`;
  if ((isRepeated && isHasty(pauses)) || (pauses.length >= MIN_PAUSES && !isGrowing))
    return doubtful(`${what}: the pauses ${isGrowing ? 'are too short' : 'do not grow'}`, attempts);
  return isRepeated && !isGrowing
    ? metWithNote(`${what}: the pauses do not grow each time, which may be chance`, attempts)
    : met(attempts, what);
}

function growsIn([first = 0, ...others]: readonly number[]): boolean {
  return others.some(pause => pause > first * GROWTH);
}

export function statusMismatch({ status }: RoundTrip, expected = '200'): Details {
  return { expected, actual: String(status) };
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

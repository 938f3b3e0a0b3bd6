import type { RoundTrip } from '../events/round-trips.js';
import type { Ability } from '../protocol/driver.js';
import type { RequirementId, Side } from '../protocol/requirements.js';
import type { Evidence } from './evidence.js';

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

/** What an observation may say beside its sentence. */
export interface Details {
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
  readonly isInterrupted?: true;
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
export const interrupted = observationOf('unrecorded', { isInterrupted: true });

/** Adds that the recording is incomplete, so the missing event may be in the lost part. */
export function possiblyLostText(what: string): string {
  return `${what}; the recording is incomplete`;
}

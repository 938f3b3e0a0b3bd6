import { eventsOf, type Leg } from './evidence/leg.js';
import type { Spot } from './spot.js';

/** One place at which a requirement was held or not, with the events that prove it. */
export type Observation =
  | {
      readonly kind: 'held';
      readonly events: readonly number[];
      readonly what?: string;
      /** It is told to a person, though nothing is wrong. */
      readonly isRemarkable?: true;
    }
  | {
      /** `doubtful`: no breach, and nothing to be proud of. */
      readonly kind: 'broken' | 'doubtful';
      readonly what: string;
      /** What alone tells it from others of its kind: the foreign id that came. */
      readonly name?: string;
      /** What is wrong one by one, where it may be much: it follows `what`. */
      readonly faults?: readonly string[];
      readonly events: readonly number[];
      /** Of these, those of the calls that it is about, where others merely prove it; all of them unless told. */
      readonly about?: readonly number[];
      readonly expected?: string;
      readonly actual?: string;
      /** Broken by what is not there, which may have been lost with a part of the transcript. */
      readonly isByAbsence?: true;
      /** A failure whatever the level of the rule: a tool that is gone holds no MUST either. */
      readonly isFatal?: true;
      /** Where in the messages it is. */
      readonly spots?: readonly Spot[];
    }
  | {
      /** `unseen`: it should have been there to see, and was not. `scant`: too little was there for a verdict, and no more was due. */
      readonly kind: 'unseen' | 'scant';
      readonly what: string;
      readonly faults?: readonly string[];
      readonly events: readonly number[];
      readonly about?: readonly number[];
    };

/** What was due, what was there instead, and where. */
export interface Difference {
  readonly expected?: string;
  readonly actual?: string;
  readonly name?: string;
  readonly faults?: readonly string[];
  readonly about?: readonly number[];
  readonly spots?: readonly Spot[];
}

/** @param what worth saying of a pass: a window, a figure */
export function held(legs: readonly Leg[], what?: string): Observation {
  return { kind: 'held', events: legs.flatMap(eventsOf), ...(what !== undefined && { what }) };
}

/** As {@link held}, with something that a person should know. */
export function heldBut(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'held', what, events: legs.flatMap(eventsOf), isRemarkable: true };
}

export function broken(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'broken', what, events: legs.flatMap(eventsOf), ...difference };
}

/** As {@link broken}, by something that did not happen: no breach where a part of what happened is not known. */
export function lacking(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'broken', what, events: legs.flatMap(eventsOf), ...difference, isByAbsence: true };
}

/** What ended the tool: from then on nothing is held. */
export function fatal(observation: Observation): Observation {
  return observation.kind === 'broken' ? { ...observation, isFatal: true } : observation;
}

/** Of what did not happen, as far as is known, where not everything is. */
export function perhapsLost(what: string): string {
  return `${what}; that may have been lost`;
}

export function doubtful(what: string, legs: readonly Leg[], difference: Difference = {}): Observation {
  return { kind: 'doubtful', what, events: legs.flatMap(eventsOf), ...difference };
}

export function scant(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'scant', what, events: legs.flatMap(eventsOf) };
}

export function unseen(what: string, legs: readonly Leg[]): Observation {
  return { kind: 'unseen', what, events: legs.flatMap(eventsOf) };
}

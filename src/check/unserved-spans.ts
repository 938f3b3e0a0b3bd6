import type { DriverEvidence } from './driver-evidence.js';
import { type Observation, unrecorded } from './rule.js';

/** From a request of an agent that the scripted model did not serve to the next one that it served. */
export interface UnservedSpan {
  readonly cause: Observation;
  /** The `seq` of the first. */
  readonly unserved: number;
  /** The `seq` of the next; null if the agent did not get past the first. */
  readonly served: number | null;
}

export function unservedSpans(driver: DriverEvidence): readonly UnservedSpan[] {
  const served = driver.findings('served').map(({ event }) => event.seq);
  return driver.findings('unserved').map(finding => {
    const { seq } = finding.event;
    return {
      cause: unrecorded(finding.message.text, finding),
      unserved: seq,
      served: served.find(each => each > seq) ?? null,
    };
  });
}

/** Whether the request may be why an agent broke a rule: it did so in this span, or it stopped there and what is missing may have followed. */
export function explains({ unserved, served }: UnservedSpan, observation: Observation): boolean {
  const { kind, events, isByAbsence = false } = observation;
  if (kind !== 'violated' && kind !== 'doubtful') return false;
  const last = Math.max(...events);
  if (served === null) return unserved < last || isByAbsence;
  return unserved < last && last < served;
}

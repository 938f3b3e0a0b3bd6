import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { RULES } from '../../src/check/rules/index.js';
import type { Event } from '../../src/events/events.js';
import { eventsOf } from '../events/build.js';
import { ACTIONS, partsOf } from '../events/model.js';
import { SAMPLES } from './samples/index.js';

/*
 * A transcript may be cut, merged or foreign: a rule must not throw, and refers only to existing events.
 */

const RUNS = { numRuns: 60 };

async function observesWell(events: readonly Event[]): Promise<void> {
  const places = new Set(events.map(({ seq }) => seq));
  for (const side of ['tool', 'runtime'] as const) {
    const evidence = await gatherEvidence({ events, observer: 'recorder' }, side);
    for (const rule of Object.values(RULES).filter(each => 'observe' in each))
      for (const { events: proof } of rule.observe(evidence))
        expect(
          proof.filter(place => !places.has(place)),
          rule.id,
        ).toEqual([]);
  }
}

describe('each rule can judge', () => {
  test('any order of the events of one call', () =>
    fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...ACTIONS), { maxLength: 20 }), async drawn => {
        await observesWell(eventsOf(...partsOf(drawn)));
      }),
      RUNS,
    ));

  test('shuffled and cut parts of all samples', () => {
    const events = Object.values(SAMPLES).flatMap(samples => samples.flatMap(({ events }) => events));
    return fc.assert(
      fc.asyncProperty(fc.shuffledSubarray(events, { maxLength: 40 }), async drawn => {
        await observesWell(drawn.map((event, seq) => ({ ...event, seq, at: seq * 10 })));
      }),
      RUNS,
    );
  });
});

import type { Fixture, FixtureSet } from '../../fixtures/fixture-set.js';
import type { Reply, Step } from '../../fixtures/step.js';

type Feature = 'faults' | 'events' | 'views' | 'choices' | 'consents';

const WORDS: Readonly<Record<Feature, string>> = {
  faults: 'faults are those of a wire that calls back, and do not happen',
  events: 'events reach nobody',
  views: 'views reach nobody',
  choices: 'nobody is asked for a choice: its default counts',
  consents: 'nobody is asked for a consent: it counts as refused',
};
const FEATURES = Object.keys(WORDS) as readonly Feature[];
const MOST_NAMED = 5;

/** What fixtures have that does not happen where a call is answered at once and nobody is there, in sentences. */
export function leftOut({ fixtures }: Pick<FixtureSet, 'fixtures'>): string[] {
  const found = fixtures.map(fixture => ({ id: fixture.id, has: featuresOf(fixture) }));
  return FEATURES.flatMap(feature => {
    const ids = found.filter(({ has }) => has.has(feature)).map(({ id }) => id);
    return ids.length > 0 ? [`${WORDS[feature]} (${named(ids)})`] : [];
  });
}

function featuresOf({ faults, replies }: Fixture): ReadonlySet<Feature> {
  const fromSteps = replies.flatMap(featuresOfReply);
  return new Set<Feature>(faults.ack || faults.callback.length > 0 ? [...fromSteps, 'faults'] : fromSteps);
}

function featuresOfReply(reply: Reply): Feature[] {
  return reply.flatMap(featuresOfStep);
}

function featuresOfStep(step: Step): Feature[] {
  switch (step.kind) {
    case 'event':
      return ['events'];
    case 'view':
      return ['views'];
    case 'choice':
      return ['choices', ...Object.values(step.then).flatMap(featuresOfReply)];
    case 'oauth':
      return ['consents', ...featuresOfReply(step.granted), ...featuresOfReply(step.refused)];
    default:
      return [];
  }
}

function named(ids: readonly string[]): string {
  const rest = ids.length - MOST_NAMED;
  const told = ids.slice(0, MOST_NAMED).join(', ');
  return rest > 0 ? `${told} and ${rest} more` : told;
}

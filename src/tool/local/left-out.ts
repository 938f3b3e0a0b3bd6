import type { Fixture, FixtureSet } from '../../fixtures/fixture-set.js';
import type { StepKind } from '../../fixtures/step.js';
import { stepsOf } from '../../fixtures/steps-of.js';

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

const OF_STEPS: Readonly<Partial<Record<StepKind, Feature>>> = {
  event: 'events',
  view: 'views',
  choice: 'choices',
  oauth: 'consents',
};

function featuresOf(fixture: Fixture): ReadonlySet<Feature> {
  const { ack, callback } = fixture.faults;
  const fromSteps = stepsOf(fixture).flatMap(({ kind }) => OF_STEPS[kind] ?? []);
  return new Set<Feature>(ack || callback.length > 0 ? [...fromSteps, 'faults'] : fromSteps);
}

function named(ids: readonly string[]): string {
  const rest = ids.length - MOST_NAMED;
  const told = ids.slice(0, MOST_NAMED).join(', ');
  return rest > 0 ? `${told} and ${rest} more` : told;
}

import { describe, expect, test } from 'vitest';
import { History } from '../../../src/events/history.js';
import type { Step } from '../../../src/render/step-arrivals.js';
import { newStepsOf, stepsOf } from '../../../src/render/steps.js';
import { acknowledged, call, eventsOf, historyOf, resultArrives } from '../../events/build.js';
import { words } from '../../support/words.js';
import { event, STORIES } from '../stories.js';

/** Told one event after the other, as anyone who looks on hears it. */
function toldOneByOne(name: string): Step[] {
  const history = new History();
  return eventsOf(...(STORIES[name] ?? [])).flatMap(each => {
    history.apply(each);
    return newStepsOf(history, each);
  });
}

const keysOf = (steps: readonly Step[]) => steps.map(({ key }) => key).sort();

describe('one event after the other it is the story that is reported at the end', () => {
  test.each(Object.keys(STORIES))('%s', name => {
    const told = toldOneByOne(name);
    const whole = stepsOf(historyOf(...(STORIES[name] ?? []))).filter(({ state }) => state !== 'running');
    expect(keysOf(told)).toEqual(keysOf(whole));
    for (const step of told) expect(whole).toContainEqual(step);
  });

  test('and the stories are worth it', () => {
    expect(Object.values(STORIES).flat(2).length).toBeGreaterThan(150);
  });
});

test('of events by the thousand each is reported alone, with its number', () => {
  const history = historyOf(call(), acknowledged(), resultArrives({ subscription: true }));
  const events = Array.from({ length: 3_000 }, (_, index) => event(`e${index}`).slice(0, 1));
  const lines = eventsOf(...events).flatMap(arrived => {
    history.apply(arrived);
    return newStepsOf(history, arrived).map(({ line }) => words(line));
  });
  expect(lines).toHaveLength(3_000);
  expect(history.first?.forgotten).toBeGreaterThan(900);
  expect(lines.at(-1)).toMatch(/^event 3000 → child thread: opened/);
});

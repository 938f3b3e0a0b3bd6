import { expect, test } from 'vitest';
import { MockView } from '../../../src/tui/mock/screen.js';
import { fakeClock } from '../../support/fake-clock.js';
import { MockStory } from '../../support/mock-story.js';
import { press } from '../workbench/form/support/pressing.js';

/** A session of a story, and what is asked of the mock. */
function openSession(story: MockStory) {
  const asked: string[] = [];
  const note = (what: string) => void asked.push(what);
  const session = new MockView(
    {
      tool: { url: 'http://127.0.0.1:4711', seed: '7f3a', name: 'demo', fixtures: 4 },
      controls: {
        pause: () => note('pause'),
        resume: () => note('resume'),
        redeliver: key => asked.push(`redeliver ${key}`) > 0,
        fire: id => asked.push(`fire ${id}`),
        reload: () => note('reload'),
        quit: () => note('quit'),
      },
      supports: new Set(['text']),
      clock: fakeClock(),
      level: 0,
    },
    () => {},
  );
  for (const event of story.events) session.event(event);
  story.log.subscribe(event => session.event(event));
  return {
    asked,
    sees: () => session.frame({ columns: 120, rows: 24 }).rows.join('\n'),
    press(...names: readonly string[]) {
      for (const { input, key } of names.map(press)) session.press(input, key);
    },
  };
}

const MOST = 2_000;

test('where the selected call is forgotten, that is said, and nothing is done to another', () => {
  const story = new MockStory().receives('call_first').receives('call_second');
  const session = openSession(story);
  session.press('g', 'r');
  expect(session.asked).toEqual(['redeliver call_first']);
  for (let at = 0; at < MOST; at++) story.receives(`call_${at}`);
  expect(session.sees()).toContain('The selected call is no longer remembered');
  session.press('r', 'e');
  expect(session.asked).toEqual(['redeliver call_first']);
  session.press('G', 'r');
  expect(session.asked.at(-1)).toBe(`redeliver call_${MOST - 1}`);
  expect(session.sees()).not.toContain('no longer remembered');
});

test('what is pasted behind a search is said, and not obeyed', () => {
  const session = openSession(new MockStory().receives('call_first'));
  session.press('/', 'first\nq');
  expect(session.asked).toEqual([]);
  expect(session.sees()).toContain('Ignored, because it was pasted after the end of the line: q');
});

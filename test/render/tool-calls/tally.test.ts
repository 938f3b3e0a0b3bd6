import { expect, test } from 'vitest';
import { NO_CALLS, stepTally, tallyLine } from '../../../src/render/call-details.js';
import { MockStory } from '../../support/mock-story.js';
import { words } from '../../support/words.js';

test.each<[string, (story: MockStory) => unknown, string]>([
  ['nothing', () => {}, '0 calls'],
  ['one call, received twice', s => s.receives('a').receives('a', {}, { attempt: 2 }), '1 call'],
  ['what nothing answers', s => s.receives('a').misses('a').receives('b'), '2 calls · 1 unmatched'],
  [
    'what was given up, and what never was a callback',
    s => {
      s.receives('a').about('a', { kind: 'dropped', what: 'callback', why: 'x', count: 3 });
      s.about('a', { kind: 'dropped', what: 'event', why: 'x', count: 1 });
    },
    '1 call · 3 undelivered',
  ],
])('%s', (_, tell, text) => {
  const story = new MockStory();
  tell(story);
  expect(words(tallyLine(story.events.reduce(stepTally, NO_CALLS)))).toBe(text);
});

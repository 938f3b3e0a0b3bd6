import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { mockPlain } from '../../src/render/outputs/server-plain.js';
import type { ColourLevel } from '../../src/render/terminal/colour-level.js';
import { MockStory, TOKEN } from '../support/mock-story.js';

/** What is written about a story. */
function told(tell: (story: MockStory) => unknown, level: ColourLevel = 0): string {
  const stream = new PassThrough({ encoding: 'utf8' });
  const story = new MockStory();
  story.log.subscribe(mockPlain(stream, { level }));
  tell(story);
  return String(stream.read() ?? '');
}

test('threats, row 24: nothing foreign reaches a terminal as it is', () => {
  const text = told(story => {
    story.receives('a', { operation: '\u001b[2J\u009b31m\r', group_id: '\u202e\n' }).matches('a', '\u0007');
  });
  expect(text).toBe('  0:00.0 → ␛[2J<U+009B>31m␍ a (<U+202E>␊) answered by ␇\n');
});

test('threats, row 25: no token of a callback is reported', () => {
  const text = told(story => {
    story.receives('a').about('a', { kind: 'warned', message: `could not post to /callback/${TOKEN}` });
    story.about('a', { kind: 'dropped', what: 'callback', why: `/callback/${TOKEN} refused`, count: 1 });
  });
  expect(text.split('\n')).toHaveLength(3);
  expect(text).not.toContain(TOKEN);
});

import { expect, test } from 'vitest';
import { CHECK_FORMATS } from '../../../src/render/outputs/check.js';
import { unsafeIn } from '../../e2e/support/text.js';
import { LOOK, STORY, TOKEN } from './story-of.js';

const text = CHECK_FORMATS.json(STORY, LOOK);
const report = JSON.parse(text);

test('what is not fine has what was on the wire: cut, and secrets out', () => {
  expect(report.checks[2].evidence).toEqual([
    {
      event: 2,
      method: 'POST',
      url: '/callback/token',
      operation: 'edit_file',
      end: '200',
      endedBy: null,
      ms: expect.any(Number),
      request: [{ place: null, text: expect.stringContaining('"id":"other"') }],
      response: [],
    },
  ]);
  expect(report.checks[0]).not.toHaveProperty('evidence');
  expect(text).not.toContain(TOKEN);
  expect(report.durationMs).toBeGreaterThan(0);
});

test('row 24: safe on a terminal as it is', () => {
  expect(unsafeIn(text)).toEqual([]);
});

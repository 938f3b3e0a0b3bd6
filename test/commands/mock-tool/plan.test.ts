import { describe, expect, test } from 'vitest';
import { runHere } from '../../e2e/support/in-process.js';

describe('options of mock-tool', () => {
  test.each([
    [['--fsync'], /--fsync needs a journal\nhint: Add --journal/],
    [['--keep', '0'], /--keep must be at least 1/],
    [['--watch'], /--watch needs fixture files/],
    [['--demo', 'a.yaml'], /--demo cannot be combined with/],
  ])('not %j', async (args, says) => {
    const { status, stdout, stderr } = await runHere(['mock-tool', ...args]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
  });

  test('--demo serves the demo, as without a file', async () => {
    const { stderr } = await runHere(['mock-tool', '--demo', '-q', '--', 'true']);
    expect(stderr).toMatch(/^mock-tool demo at /);
  });
});

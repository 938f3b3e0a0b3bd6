import { describe, expect, test } from 'vitest';
import { runHere } from '../../e2e/support/in-process.js';

/** What makes no sense together is said before anything is served. */
describe('options of mock-tool', () => {
  test.each([
    [['--fsync'], /--fsync is about a journal.*\nhint: Add --journal/],
    [['--keep', '0'], /--keep 0 would remember nothing\nhint: .*--keep 1/],
    [['--watch'], /--watch needs fixture files/],
    [['--demo', 'a.yaml'], /--demo serves the bundled demo/],
  ])('not %j', async (args, says) => {
    const { status, stdout, stderr } = await runHere(['mock-tool', ...args]);
    expect([status, stdout]).toEqual([2, '']);
    expect(stderr).toMatch(says);
  });

  test('--demo is the demo, as without a file', async () => {
    const { stderr } = await runHere(['mock-tool', '--demo', '-q', '--', 'true']);
    expect(stderr).toMatch(/^mock-tool demo at /);
  });
});

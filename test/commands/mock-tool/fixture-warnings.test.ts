import { describe, expect, test } from 'vitest';
import { loadFixtures } from '../../../src/commands/mock-tool/fixtures.js';
import { temporaryFolder } from '../../e2e/support/folder.js';

const HEAD = '--- a/a.txt\n+++ b/a.txt\n';
const GOOD = `${HEAD}@@ -1,1 +1,1 @@\n-a\n+b\n`;
const TEXT = { type: 'text', content: 'edited' };

async function warningsOf(fixtures: readonly object[]): Promise<readonly string[]> {
  await using folder = await temporaryFolder();
  const path = await folder.write('a.yaml', JSON.stringify({ version: 1, fixtures }, null, 1));
  const { warnings } = await loadFixtures([path]);
  return warnings.map(warning => warning.replaceAll(path, 'a.yaml').replace(/a\.yaml:\d+/g, 'a.yaml:n'));
}

function warningsForReplies(...replies: object[]): Promise<readonly string[]> {
  return warningsOf(replies.map((reply, n) => ({ match: { operation: `edit${n}` }, reply })));
}

const showing = (...display_as: unknown[]) => ({ result: { text: 'done', display_as } });
const diff = (content: unknown) => ({ type: 'diff', content });

describe('TOOL-DIFF: a diff of a fixture', () => {
  test('is reported with its place and the reason if it is invalid', async () => {
    expect(
      await warningsForReplies(showing(TEXT, diff({ path: 'a.txt', patch: '@@ broken\n-a\n+b\n' }))),
    ).toEqual([
      'a.yaml:n result.display_as[1].content: malformed diff: line 1: "@@ broken" is not a hunk header; expected "@@ -1,3 +1,4 @@"; clients cannot show it and show the next segment instead (TOOL-DIFF)',
    ]);
  });

  test.each<[string, unknown, RegExp]>([
    ['without a path', { patch: GOOD }, /malformed diff: \$\.path: is required/],
    ['without a patch', { path: 'a.txt' }, /\$\.patch: is required/],
    ['as a string', GOOD, /malformed diff: \$: must be/],
    [
      'with wrong counts',
      { path: 'a', patch: GOOD.replace('+1,1', '+1,7') },
      /wrong line counts \(corrected\): hunk 1: says .* \(TOOL-DIFF\)$/,
    ],
  ])('%s', async (_, content, words) => {
    expect(await warningsForReplies(showing(diff(content)))).toEqual([expect.stringMatching(words)]);
  });

  test('is checked in the answer to a question and in a view', async () => {
    const bad = { path: 'a', patch: 'none' };
    const done = { payload: 'done' };
    const asking = { oauth: {}, granted: showing(diff(bad)), refused: done };
    const view = [{ view: { view_type: 'diff', content: { patch: 'none' } } }, done];
    const files = [{ path: 'a', status: 'added', oldContents: '', newContents: 'b' }];
    const ofFiles = [{ view: { view_type: 'diff', content: { files } } }, done];
    expect(await warningsForReplies(asking, view, ofFiles)).toEqual([
      expect.stringMatching(/^a\.yaml:n result\.display_as\[0\]\.content: malformed diff: /),
      expect.stringMatching(/^a\.yaml:n view\.content: malformed diff: /),
    ]);
  });

  test.each<[string, object]>([
    ['that is valid', showing(diff({ path: 'a.txt', patch: GOOD }), TEXT)],
    ['that changes nothing', showing(diff({ path: 'a.txt', patch: '' }), TEXT)],
    ['computed from two texts', showing(diff({ path: 'a.txt', before: 'a', after: 'b' }))],
    [
      'whose file and text come from the call',
      showing(
        diff({ path: 'x', patch: GOOD.replaceAll('a.txt', '{{arguments.path}}').replace('+b', '+{{id}}') }),
      ),
    ],
    ['that comes from the call', showing(diff({ path: 'x', patch: '{{arguments.patch}}' }))],
    ['whose lines come from the call', showing(diff({ path: 'x', patch: `${HEAD}{{arguments.hunks}}` }))],
    [
      'whose counts come from the call',
      showing(diff({ path: 'x', patch: `${HEAD}@@ -1,{{count}} +1,1 @@\n-a\n+b\n` })),
    ],
    ['all of which comes from the call', showing(diff('{{arguments.diff}}'))],
    ['that is missing', showing(TEXT)],
    ['in an invalid list', { result: { text: 'x', display_as: 'diff' } }],
    ['in a cleared view', [{ view: { view_type: 'diff', content: {} } }, { payload: 'done' }]],
    [
      'in a view of another type',
      [{ view: { view_type: 'tree', content: { patch: 'x' } } }, { payload: 'done' }],
    ],
  ])('accepts a diff %s', async (_, reply) => {
    expect(await warningsForReplies(reply)).toEqual([]);
  });

  test('threats, row 24: makes a hostile line visible', async () => {
    expect((await warningsForReplies(showing(diff({ path: 'a', patch: '\u001b[2J' })))).join()).not.toContain(
      '\u001b',
    );
  });
});

describe('a fixture that never matches', () => {
  const fixture = (id?: string) => ({ id, match: { operation: 'op' }, reply: { payload: 1 } });

  test.each([
    [
      ['first', 'second'],
      'fixture second never matches: first comes before it and matches the same calls (a.yaml:n)',
    ],
    [
      [undefined, undefined],
      'fixture a.yaml:n never matches: a.yaml:n comes before it and matches the same calls',
    ],
    [
      ['a', '\u001b[2J\n'],
      'fixture ␛[2J␊ never matches: a comes before it and matches the same calls (a.yaml:n)',
    ],
  ])('is reported with the one that matches instead, made visible (row 24): %j', async (ids, warning) => {
    expect(await warningsOf(ids.map(fixture))).toEqual([warning]);
  });
});

import { dirname, join } from 'node:path';
import { describe, test } from 'vitest';
import { ROOT } from '../e2e/support/program.js';
import { expectGolden, expectGoldenFrames, type Frame, filesIn, printed } from './golden.js';

/** What every command makes of saved transcripts (else: npm run goldens). */
const TRANSCRIPTS = [...filesIn('fixtures/transcripts'), ...filesIn('test/goldens/transcripts')];

const SMALL = { columns: 80, rows: 24 };
const MEDIUM = { columns: 120, rows: 36 };
const LARGE = { columns: 200, rows: 60 };
const FRAMES: readonly Frame[] = [
  { title: 'Human / LLM', keys: '1', size: SMALL },
  { title: 'Problems', keys: '5', size: SMALL },
];
/** Outcomes, events, views, a diff and foreign text: all of their tabs are drawn, at three sizes and in colours. */
const WHOLE = new Set([
  'mock-outcomes-journal',
  'subscription',
  'views',
  'demo-edit-file',
  'odd-hostile-text',
]);
const MORE_FRAMES: readonly Frame[] = [
  { title: 'Human / LLM', keys: '1', size: MEDIUM },
  { title: 'Timeline', keys: '2', size: MEDIUM },
  { title: 'Wire', keys: '3', size: MEDIUM },
  { title: 'Views', keys: '4', size: MEDIUM },
  { title: 'Human / LLM', keys: '1', size: LARGE },
  { title: 'Wire, read', keys: '3\r', size: LARGE },
];
const PICTURES = new Set(['diff', 'demo-edit-file', 'session-client']);
const REPORTS = new Set(['recorder', 'odd-wrong-type', 'session-client']);
const EXPORTS = new Set(['subscription', 'views', 'demo-choice', 'recorder', 'mock-outcomes-journal']);

describe.concurrent.each(TRANSCRIPTS)('$name', ({ name, file }) => {
  test('as lines', async ({ expect }) => {
    await expectGolden(expect, `${name}.plain`, await printed([['render', file, '--width', '100']]));
  });

  test('as data', async ({ expect }) => {
    await expectGolden(expect, `${name}.json`, await printed([['render', file, '-o', 'json']]));
  });

  test('checked', async ({ expect }) => {
    await expectGolden(expect, `${name}.check`, await printed([['check', file, '-q']]));
  });

  test('in the workbench', async ({ expect }) => {
    const path = join(ROOT, dirname(file));
    await expectGoldenFrames(expect, `${name}.screens`, {
      args: ['invoke', '-i'],
      cwd: path,
      env: WHOLE.has(name) ? {} : { NO_COLOR: '1' },
      prepare: async screen => {
        await screen.shows('quit');
        screen.type('O');
        await screen.shows(/transcript/i);
        screen.type(`${name}.ndjson\r`);
        await screen.shows(/opened |cannot|nothing/);
      },
      frames: WHOLE.has(name) ? [...FRAMES, ...MORE_FRAMES] : FRAMES,
    });
  });

  test.runIf(PICTURES.has(name))('as a picture', async ({ expect }) => {
    await expectGolden(expect, `${name}.svg`, await printed([['render', file, '--as', 'svg']]));
  });

  test.runIf(REPORTS.has(name))('every report of check', async ({ expect }) => {
    const reporters = ['human', 'json', 'junit', 'github', 'markdown'];
    await expectGolden(
      expect,
      `${name}.reports`,
      await printed(reporters.map(reporter => ['check', file, '--reporter', reporter])),
    );
  });

  test.runIf(EXPORTS.has(name))('as fixtures', async ({ expect }) => {
    await expectGolden(expect, `${name}.fixtures`, await printed([['mock-tool', file, '--export', '-']]));
  });
});

import { describe, expect, test } from 'vitest';
import { plainReporter } from '../../src/render/outputs/plain.js';
import {
  acknowledged,
  arrives,
  at,
  call,
  eventsOf,
  KEY,
  type Moment,
  OAUTH,
  refused,
  resultArrives,
} from '../events/build.js';
import { view } from '../render/flows.js';
import { report } from './report.js';

const outputOf = (...parts: Moment[][]) =>
  report(page => plainReporter(page, new Set(['diff', 'text'])), eventsOf(...parts), { isTTY: true });
const started = () => [at(0, call()), at(3, acknowledged())];

describe('RT-VIEW: a view is drawn when it changes', () => {
  const patch = (line: string) => `--- a/x\n+++ b/x\n@@ -1 +1 @@\n-old\n+${line}\n`;

  test('prints each update with the number of updates', async () => {
    const { stdout } = await outputOf(
      ...started(),
      at(5, view('v1', patch('new'))),
      at(6, view('v2', patch('newer'))),
    );
    expect(stdout.split('\n').slice(2)).toEqual([
      '• view diff updated after 5ms',
      '',
      'VIEW diff, updated once',
      'x +1 −1',
      expect.stringContaining('@@ -1,1 +1,1 @@'),
      expect.stringContaining('- old'),
      expect.stringContaining('+ new'),
      '',
      '• view diff updated after 6ms',
      '',
      'VIEW diff, updated 2 times',
      'x +1 −1',
      expect.stringContaining('@@ -1,1 +1,1 @@'),
      expect.stringContaining('- old'),
      expect.stringContaining('+ newer'),
      '',
      '',
    ]);
  });

  test('cuts a long view and shows how much is missing', async () => {
    const long = `--- a/x\n+++ b/x\n@@ -0,0 +1,1000 @@\n${'+a\n'.repeat(1_000)}`;
    const { stdout } = await outputOf(...started(), view('v1', long));
    expect(stdout).toMatch(/… 80\d more lines/);
    expect(stdout.split('\n').length).toBeLessThan(220);
  });
});

describe('RT-OAUTH: removes the query of a consent URL in a pipe', () => {
  const auth_url = 'https://auth.example/?code=canary';
  const parts = [
    ...started(),
    arrives({ ...OAUTH, auth_url }),
    resultArrives({ text: 'Error: no' }, { leg: 'b2' }),
  ];

  test.each([
    [true, true],
    [false, false],
  ])('terminal: %j', async (isTTY, isWhole) => {
    const { stdout } = await report(page => plainReporter(page, new Set(['text'])), eventsOf(...parts), {
      isTTY,
    });
    expect(stdout).toContain('• visit https://auth.example/');
    expect(stdout.includes('canary')).toBe(isWhole);
  });
});

test('row 3: reports refused requests with reason and status, once both are known', async () => {
  const { stdout } = await outputOf(
    ...started(),
    refused('an Origin header', 403),
    refused('too large', 413, { leg: 's2', to: KEY }),
  );
  expect(stdout).toContain('✗ a request to the callback listener was refused with 403: an Origin header\n');
  expect(stdout).toContain('✗ callback rejected with 413: too large\n');
  expect(stdout).not.toMatch(/undefined|not valid JSON/);
});

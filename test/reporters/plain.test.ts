import { expect, test } from 'vitest';
import { plainReporter } from '../../src/reporters/plain.js';
import {
  acknowledged,
  at,
  call,
  ENDPOINT,
  eventsOf,
  KEY,
  type Moment,
  refused,
  resultArrives,
} from '../exchange/build.js';
import { SEED_RESULTS } from '../protocol/seed-messages.js';
import { report } from './paper.js';

const told = (...story: Moment[][]) =>
  report(
    (history, paper) => plainReporter(history, paper, new Set(['diff', 'text']), { level: 0, isTTY: true }),
    eventsOf(...story),
  );
const started = () => [at(0, call()), at(3, acknowledged())];

test('the story in lines, then the two panes', async () => {
  const seed = JSON.parse(SEED_RESULTS['a diff display with text fallback'] ?? '');
  const { stdout, stderr } = await told(...started(), at(1_203, resultArrives(seed)));
  expect(stdout).toBe(
    [
      `✓ sent edit_file to ${ENDPOINT}`,
      '✓ acknowledged with 200 after 3ms',
      '✓ result after 1.2s',
      '',
      'HUMAN display_as[0] diff (the first segment)',
      'src/main.rs +1 −0',
      '@@ -1,2 +1,3 @@',
      '1 1   fn main() {',
      '  2 +  println!("hello");',
      '2 3   }',
      '',
      'LLM text, 28 bytes',
      'Replaced text in src/main.rs',
      '',
      '',
    ].join('\n'),
  );
  expect(stderr).toMatch(/^warning: .*\[TOOL-DIFF\]\n$/);
});

test('each step is told once', async () => {
  const { stdout } = await told(...started(), resultArrives(), resultArrives({}, { leg: 'b2' }));
  const steps = stdout.split('\n').filter(line => /^[✓✗•]/.test(line));
  expect(new Set(steps).size).toBe(steps.length);
});

test('row 3: what the guard refused is told with its reason and its status, never before they are known', async () => {
  const { stdout } = await told(
    ...started(),
    refused('an Origin header', 403),
    refused('too large', 413, { leg: 's2', to: KEY }),
  );
  expect(stdout).toContain('✗ a request to the callback listener, refused with 403: an Origin header\n');
  expect(stdout).toContain('✗ callback rejected with 413: too large\n');
  expect(stdout).not.toMatch(/undefined|not valid JSON/);
});

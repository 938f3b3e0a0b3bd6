import { expect, test } from 'vitest';
import { dialectReporter } from '../../src/render/outputs/call-report.js';
import {
  acknowledged,
  at,
  call,
  eventsOf,
  KEY,
  type Moment,
  resultArrives,
  THREAD,
} from '../events/build.js';
import { report } from './report.js';

const outputOf = (parts: readonly Moment[][], options: Parameters<typeof report>[2] = {}) =>
  report(page => dialectReporter(page, 'lmkit'), eventsOf(...parts), { secrets: ['secret'], ...options });
const callThen = (...rest: Moment[][]) => [at(0, call()), at(3, acknowledged()), ...rest];

test('prints the answer to stdout and warnings about lost data to stderr', async () => {
  const { stdout, stderr } = await outputOf(callThen(at(9, resultArrives({ text: 'a secret \u202e' }))));
  expect(JSON.parse(stdout)).toEqual({
    Type: 'Success',
    ResultJson: '"a [redacted] \u202e"',
    ToolCallId: KEY,
    ToolName: 'edit_file',
  });
  expect(stdout).not.toContain('\u202e');
  expect(stderr.split('\n')).toContain(
    `warning: a ToolCallResult of LM-Kit cannot carry the thread "${THREAD}"`,
  );
});

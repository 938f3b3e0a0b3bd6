import { expect, test } from 'vitest';
import type { CheckFlags, Subject } from '../../../src/commands/check/plan.js';
import { howToSeeWhole } from '../../../src/commands/check/run.js';

const TOOL: Subject = { kind: 'tool', target: { kind: 'demo' } };
const FLAGS: CheckFlags = { probeTimeout: 1, callbackHost: '', callbackPort: 0, color: false, given: [] };

test.each<[string, Subject, string | undefined, string]>([
  ['a tool', TOOL, undefined, 'check again with --save check.ndjson, then protocol-cli render check.ndjson'],
  ['one whose transcript is saved', TOOL, 'a.ndjson', 'protocol-cli render a.ndjson'],
  ['a transcript', { kind: 'transcript', file: 'b.ndjson' }, undefined, 'protocol-cli render b.ndjson'],
  [
    'one with a blank in its name',
    { kind: 'transcript', file: "it's b" },
    undefined,
    "protocol-cli render 'it'\\''s b'",
  ],
  [
    'one that was piped in',
    { kind: 'transcript', file: '-' },
    undefined,
    'save it to a file first, then protocol-cli render that file',
  ],
])('of %s', (_, subject, save, words) => {
  expect(howToSeeWhole({ subject, flags: { ...FLAGS, ...(save !== undefined && { save }) } })).toBe(words);
});

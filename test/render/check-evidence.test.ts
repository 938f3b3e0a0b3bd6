import { expect, test } from 'vitest';
import { evidenceOf } from '../../src/render/check-evidence.js';
import { createRedactor } from '../../src/util/redact.js';
import { someCall } from '../check/samples/parts.js';
import { eventsOf } from '../events/build.js';

const a = someCall('a');

const SECRET = 'sk-7f3a9c2e51d84b60';

/** What is marked of a text, and the marked part with its neighbours. */
function marked(text: string, range: readonly [number, number]) {
  const events = eventsOf(a.begun(), a.result({ text }));
  const event = events.find(each => each.kind === 'request' && each.purpose === 'callback')?.seq ?? -1;
  const redactor = createRedactor([SECRET]);
  const { shown } = evidenceOf(
    { events: [event], spots: [{ event, path: ['text'], range }] },
    { events, redactor },
  );
  const [piece] = shown.flatMap(({ request }) => request);
  const [from, to] = piece?.point ?? [0, 0];
  return { point: piece?.text.slice(from, to), around: piece?.text.slice(from - 4, to + 4) };
}

test.each([
  ['which also stands before it', 'abc tok, xyz tok!', [13, 16], 'xyz tok!"'],
  ['behind a secret, which is shown shorter', `${SECRET} tok, ${SECRET} tok!`, [45, 48], 'ed] tok!"'],
  ['in a long text', `${'tok '.repeat(30_000)}xyz tok!`, [120_004, 120_007], 'xyz tok!"'],
] as const)(
  'the text at the range of a finding is marked, not the same text elsewhere: %s',
  (_, text, range, around) => {
    expect(text.slice(...range)).toBe('tok');
    expect(marked(text, range)).toEqual({ point: 'tok', around });
  },
);

import { describe, expect, test } from 'vitest';
import type { Spot } from '../../../src/check/rule.js';
import { callbackSecrets } from '../../../src/events/shareable.js';
import {
  arrives,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  type Moment,
  OAUTH,
  resultArrives,
} from '../../events/build.js';
import { wireText } from '../../support/wire-text.js';

const pointing = (spot: Spot, ...story: readonly (readonly Moment[])[]) => {
  const events = eventsOf(...story);
  const proof = { events: [spot.event], spots: [spot] };
  return wireText(proof, { events, redactor: callbackSecrets(events) });
};

function told(seqs: readonly number[], ...story: readonly (readonly Moment[])[]): string {
  const events = eventsOf(...story);
  return wireText({ events: seqs }, { events, redactor: callbackSecrets(events) });
}

describe('of what a finding is about', () => {
  const LONG = 'x'.repeat(2_000);
  const TRACE = '    at read (/home/app/tool.js:12:5)';

  test('the part of a long text, with what stands around it', () => {
    const at = { event: 1, path: ['text'], range: [2_001, 2_001 + TRACE.length] } as const;
    const text = pointing(at, call(), arrives({ text: `${LONG}\n${TRACE}\n${LONG}` }));
    expect(text).toMatch(/│ {3}text {2}"…x{39}␊ {4}at read \(\/home\/app\/tool\.js:12:5\)␊x{39}…"$/);
  });

  test('that it is not there, and what is', () => {
    const text = pointing(
      { event: 1, path: ['call_id'] },
      call(),
      resultArrives({ call_id: undefined, text: LONG }),
    );
    expect(text).toContain('│   call_id  is not there; there are type, group_id, id, text');
  });

  test('in a body that is large', () => {
    const at = { event: 1, path: ['text'], range: [200_000, 200_004] } as const;
    const text = pointing(at, call(), arrives({ text: `${'y'.repeat(200_000)}here${'z'.repeat(200_000)}` }));
    expect(text).toMatch(/"…y{40}herez{40}…"$/);
  });

  test('row 25: no secret, nor half of one', () => {
    const token = 'tok_0123456789abcdef';
    const invocation = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${token}` };
    const whole = `${LONG} ${token} here${LONG}`;
    const at = { event: 1, path: ['text'], range: [2_010, 2_026] } as const;
    expect(pointing(at, call({ invocation }), arrives({ text: whole }))).not.toMatch(/tok_|9abcdef/);
    const oauth = { ...OAUTH, auth_url: 'https://auth.example/consent?state=s3cr3tstate' };
    expect(pointing({ event: 1, path: ['auth_url'] }, call(), arrives(oauth))).toMatch(
      /auth_url {2}"https:\/\/auth\.example\/consent"$/,
    );
  });
});

describe('of bodies', () => {
  test('a long one is looked over: each member of it is there', () => {
    const text = told([1], call(), arrives({ text: 'x'.repeat(2_000), metadata: 'last' }));
    expect(text).toMatch(/"text":"x{32}…".*"metadata":"last"\}$/);
  });

  test('a large one is not read whole, and no secret is left at its end (row 25)', () => {
    const token = 'tok_0123456789abcdef';
    const invocation = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${token}` };
    const text = told([1], call({ invocation }), arrives({ text: `${token} ${'x'.repeat(200_000)}` }));
    expect(text).toContain('"text":"[redacted] xxx');
    expect(text).not.toContain(token);
    expect(text.length).toBeLessThan(500);
  });

  test('row 25: what gives power over a conversation is left out', () => {
    const oauth = { ...OAUTH, auth_url: 'https://auth.example/consent?state=s3cr3tstate' };
    const choice = { ...CHOICE, response_url: 'http://127.0.0.1:3001/c/Zm9vYmFyYmF6cXV4MTIz' };
    const text = told([0, 2], arrives(oauth), arrives(choice, { leg: 'back-2' }));
    expect(text).not.toMatch(/s3cr3tstate|Zm9vYmFyYmF6cXV4MTIz/);
  });
});

import { describe, expect, test } from 'vitest';
import { callbackSecrets } from '../../../src/exchange/callback-secrets.js';
import { plainText } from '../../../src/story/checks/plain-text.js';
import { wireLines } from '../../../src/story/checks/wire-lines.js';
import {
  acknowledged,
  answered,
  arrives,
  at,
  bytesArrive,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  lost,
  type Moment,
  OAUTH,
} from '../../exchange/build.js';

function told(seqs: readonly number[], ...story: readonly (readonly Moment[])[]): string {
  const events = eventsOf(...story);
  return plainText(wireLines(seqs, { events, redactor: callbackSecrets(events) }));
}

describe('the requests that prove something', () => {
  test('with their answer, whichever of the two is named', () => {
    const story = [call(), at(3, acknowledged())];
    expect(told([1], ...story)).toMatch(
      /^│ POST http:\/\/127\.0\.0\.1:3001\/invoke → 200 after 3ms\n│ {3}\{"operation"/,
    );
    expect(told([0], ...story)).toBe(told([1], ...story));
  });

  test('with what was said in the answer', () => {
    expect(told([1], call(), answered(500, { body: 'Internal' }))).toContain('│   ← Internal');
  });

  test('that broke, or are on their way', () => {
    expect(told([0], call(), lost())).toContain(' → connect: ECONNREFUSED');
    expect(told([0], call())).toContain(' is not answered');
  });

  test('no more than a few of them', () => {
    const all = [1, 2, 3, 4, 5, 6].map(attempt => call({ attempt }));
    const text = told([0, 1, 2, 3, 4, 5], ...all);
    expect(text.match(/POST/g)).toHaveLength(4);
    expect(text).toMatch(/│ … 2 more$/);
  });

  test('nothing, where nothing is named, or it was no request', () => {
    expect(told([], call())).toBe('');
    expect(told([0], [{ kind: 'warned', message: 'x' }])).toBe('');
  });
});

describe('of bodies', () => {
  test('what is not UTF-8 is counted', () => {
    expect(told([0], bytesArrive(new Uint8Array([0xff, 0xfe])))).toContain('(2 bytes that are not UTF-8)');
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

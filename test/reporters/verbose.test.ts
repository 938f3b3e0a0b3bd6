import { describe, expect, test } from 'vitest';
import { verboseTeller } from '../../src/render/wire.js';
import { createRedactor } from '../../src/util/redact.js';
import {
  answered,
  arrives,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  type Moment,
  OAUTH,
  resultArrives,
  untrackedRequest,
} from '../events/build.js';

function told(secrets: string[], ...story: Moment[][]): string {
  let text = '';
  const tell = verboseTeller(createRedactor(secrets), piece => (text += piece));
  for (const event of eventsOf(...story)) tell(event);
  return text;
}

test('> marks what was sent, < what was received, as in curl', () => {
  const text = told([], call(), answered(400, { body: 'no' }), resultArrives());
  expect(text).toBe(
    [
      '> POST http://127.0.0.1:3001/invoke',
      '> content-type: application/json',
      '',
      JSON.stringify(INVOCATION),
      '< 400',
      '',
      'no',
      '< POST /callback/token',
      '< content-type: application/json',
      '',
      '{"type":"tool_result","group_id":"thread_xyz","id":"call_abc123","text":"done"}',
      '> 200',
      '',
    ].join('\n'),
  );
});

describe('row 25: secrets are out', () => {
  test('of the address at which a question is answered', () => {
    const url = 'http://tool:3001/choices/0123456789abcdef?code=canary';
    const selection = untrackedRequest('choice').map(each => ('url' in each ? { ...each, url } : each));
    const text = told([], arrives({ ...CHOICE, response_url: url }), selection);
    expect(text).toContain('> POST http://tool:3001/choices/[redacted]\n');
    expect(text).toContain('"response_url":"http://tool:3001/choices/[redacted]"');
    expect(text).not.toContain('canary');
  });

  test('in urls, headers and bodies', () => {
    const secretive = { ...INVOCATION, callback_url: 'http://127.0.0.1/callback/s3cret' };
    const story = [
      call({ invocation: secretive }).map(each => ({
        ...each,
        headers: { authorization: 'Bearer canary', 'x-key': 'canary' },
      })),
      resultArrives({ text: 's3cret' })
        .slice(0, 1)
        .map(each => ({ ...each, url: '/callback/s3cret' })),
    ];
    const text = told(['s3cret'], ...story);
    expect(text).not.toMatch(/s3cret|canary/);
    expect(text).toContain('> authorization: [redacted]');
    expect(text).toContain('< POST /callback/[redacted]');
  });

  test('RT-OAUTH: an auth_url has no query', () => {
    const text = told([], arrives({ ...OAUTH, auth_url: 'https://auth.example/a?state=canary' }));
    expect(text).toContain('https://auth.example/a');
    expect(text).not.toContain('canary');
  });
});

test('row 24: what is foreign does not act', () => {
  const evil = '\u001b]0;x\u0007\u202e';
  const story = resultArrives({ text: evil }).map(each => ({
    ...each,
    url: `/${evil}`,
    headers: { 'content-type': evil },
  }));
  expect(told([], story).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
});

test('a huge body is cut, and says so', () => {
  const text = told([], resultArrives({ text: 'x'.repeat(200_000) }).slice(0, 1));
  expect(text.length).toBeLessThan(70_000);
  expect(text).toMatch(/… \d+ more characters/);
});

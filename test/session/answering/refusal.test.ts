import { expect, it } from 'vitest';
import { refusalDetail, refusedBy } from '../../../src/session/client/platform-client.js';

const detailOf = (body: unknown, clean = (text: string) => text) =>
  refusalDetail(Buffer.from(typeof body === 'string' ? body : JSON.stringify(body)), clean);

it.each<[unknown, string]>([
  [{ message: 'Invalid API key.' }, 'Invalid API key.'],
  [{ detail: 'Session not found.' }, 'Session not found.'],
  [
    { detail: [{ type: 'x', loc: ['body', 'results', 0, 'kind'], msg: 'Field required', input: {} }] },
    'body.results.0.kind: Field required',
  ],
  [{ detail: ['a', { msg: 'b' }] }, 'a; b'],
  [{ detail: { deep: 1 } }, ''],
  [[1], ''],
  ['<html>', ''],
  ['', ''],
])('of %j', (body, said) => expect(detailOf(body)).toBe(said));

it('is safe to print, and short', () => {
  const said = detailOf({ message: `\u001b[2J${'x'.repeat(10_000)}` });
  expect(said).toMatch(/^␛\[2Jx+…$/);
  expect(said.length).toBeLessThan(400);
});

it.each([
  [401, /--key/],
  [403, /--key/],
  [404, /without \/api\/v2/],
  [307, /Redirects/],
  [503, /log/],
])('%i says what to do', (status, hint) => {
  const refusal = refusedBy(status, 'GET /status', 'because');
  expect(refusal).toMatchObject({
    code: 'platform-refused',
    message: `the platform answered ${status} to GET /status: because`,
  });
  expect(refusal.hint).toMatch(hint);
});

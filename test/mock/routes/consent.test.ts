import { createHash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { replying, type StartedMock, startMock } from '../start-mock.js';

const oauth = (more: object = {}) =>
  replying({
    oauth: { scopes: ['repo'], ...more },
    granted: { payload: 'granted' },
    refused: { error: { message: 'authorization was refused' } },
  });
const form = { 'content-type': 'application/x-www-form-urlencoded' };

async function asked(mock: StartedMock) {
  const call = await mock.invoke();
  const { body } = await call.waitFor('oauth');
  return { call, url: String(body?.['auth_url']) };
}

const visit = (url: string, headers: Record<string, string> = {}) => fetch(url, { headers });
const press = (url: string, headers: Record<string, string> = {}, body = 'decision=granted') =>
  fetch(url, { method: 'POST', body, headers: { ...form, ...headers } });

describe('TOOL-OAUTH: the consent page', () => {
  test.each([
    ['grant', 'granted', 'granted'],
    ['refuse', 'refused', 'Error: authorization was refused'],
  ] as const)('submitted as by a browser: %s', async (decision, value, text) => {
    await using mock = await startMock(oauth());
    const { call, url } = await asked(mock);
    const { page, answer, press } = await mock.runtime.visitConsent(url, decision);
    expect(page.body).toContain('<code>repo</code>');
    expect([answer.status, answer.body]).toEqual([200, expect.stringContaining(`Permission ${value}`)]);
    expect((await call.result()).body).toMatchObject({ text });
    expect((await press()).status).toBe(410);
    expect(mock.eventsOfKind('decided')).toMatchObject([
      { what: 'consent', by: 'person', value, calls: ['["g","i"]'] },
    ]);
    expect(mock.runtime.verdict()).toEqual([]);
  });

  test('its headers let it only show itself and send its form to us', async () => {
    await using mock = await startMock(oauth());
    const { url } = await asked(mock);
    const page = await visit(url);
    const [, style = ''] = /<style>(.*?)<\/style>/s.exec(await page.text()) ?? [];
    const hash = createHash('sha256').update(style).digest('base64');
    expect(Object.fromEntries(page.headers)).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'sha256-${hash}'; form-action 'self'; frame-ancestors 'none'; base-uri 'none'`,
      'referrer-policy': 'same-origin',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    expect(page.headers.get('access-control-allow-origin')).toBeNull();
  });

  test('an unknown state', async () => {
    await using mock = await startMock(oauth());
    await asked(mock);
    for (const query of ['', '?state=', '?state=x', '?other=1', `?state=${'A'.repeat(43)}`]) {
      const url = `${mock.tool.url}/authorize${query}`;
      expect([query, (await visit(url)).status, (await press(url)).status]).toEqual([query, 410, 410]);
    }
  });

  test('a canceled call cannot be decided', async () => {
    await using mock = await startMock(oauth());
    const { call, url } = await asked(mock);
    await mock.runtime.cancel(mock.tool.url, 'g', 'i');
    await call.result();
    expect((await visit(url)).status).toBe(410);
  });

  test('with a foreign auth_url the mock shows no page; fire() grants', async () => {
    await using mock = await startMock(oauth({ auth_url: 'https://auth.example/consent' }));
    const { call, url } = await asked(mock);
    expect(url).toBe('https://auth.example/consent');
    expect((await mock.post('/__mock__/fire', { id: 'i' })).status).toBe(200);
    expect((await call.result()).body).toMatchObject({ text: 'granted' });
  });
});

describe('row 3: the one route for browsers', () => {
  test.each<[string, (base: string) => Record<string, string>, number]>([
    ['a typed address', () => ({ 'sec-fetch-site': 'none' }), 200],
    ['our own page', base => ({ 'sec-fetch-site': 'same-origin', origin: base }), 200],
    ['another site', () => ({ 'sec-fetch-site': 'cross-site' }), 403],
    ['another port of this host', () => ({ 'sec-fetch-site': 'same-site' }), 403],
    ['a foreign origin', () => ({ origin: 'https://evil.example' }), 403],
    ['Origin: null', () => ({ origin: 'null' }), 403],
  ])('%s', async (_, headersFor, status) => {
    await using mock = await startMock(oauth());
    const { url } = await asked(mock);
    const headers = headersFor(mock.tool.url);
    expect([(await visit(url, headers)).status, (await press(url, headers)).status]).toEqual([
      status,
      status,
    ]);
  });
});

test('row 25: no transcript contains the state, for any way to request the page', async () => {
  await using mock = await startMock(oauth());
  const { call, url } = await asked(mock);
  await mock.runtime.visitConsent(url, 'grant');
  await call.result();
  const secret = new URL(url).searchParams.get('state') ?? '';
  const lines = await fetch(`${mock.tool.url}/__mock__/journal`, {
    headers: { accept: 'application/x-ndjson' },
  });
  const journal = await fetch(`${mock.tool.url}/__mock__/journal`);
  expect(secret).toHaveLength(43);
  expect((await lines.text()) + (await journal.text())).not.toContain(secret);
});

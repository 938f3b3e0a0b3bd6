import { expect, test } from 'vitest';
import { REDACTED } from '../../src/util/redact.js';
import { isSafeToVisit, readUrl, tokenlessUrl, urlWithoutQuery } from '../../src/util/url.js';

test('an absolute URL is read, any other text is not', () => {
  expect(readUrl('http://two.example/')?.hostname).toBe('two.example');
  for (const text of ['', 'callback', '/callback', 'http://', 'http://[::1', 'http://a b/'])
    expect(readUrl(text)).toBeNull();
});

test.each([
  ['https://auth.example/consent?x=1', true],
  ['HTTPS://auth.example', true],
  ['http://127.0.0.1:4711/consent', true],
  ['http://127.9.9.9/', true],
  ['http://127.1/', true], // the URL parser writes it 127.0.0.1
  ['http://localhost:1/', true],
  ['http://[::1]:1/', true],
  ['http://auth.example/', false],
  ['http://127.0.0.1.auth.example/', false],
  ['http://localhost.auth.example/', false],
  ['http://127.0.0.1@auth.example/', false],
  ['http://10.0.0.1/', false],
  ['https://good.example@evil.example/', false],
  ['https://:secret@evil.example/', false],
  ['https://good.example:1@127.0.0.1/', false],
  ['http://user@127.0.0.1:4711/consent', false],
  ['https://evil.example/@good.example', true],
  ['javascript:alert(1)', false],
  ['file:///etc/passwd', false],
  ['-version', false],
  ['//auth.example', false],
  ['', false],
])('threats, row 13: %j → %j', (url, isSafe) => {
  expect(isSafeToVisit(url)).toBe(isSafe);
});

test.each([
  ['https://auth.example/consent?state=secret', 'https://auth.example/consent'],
  ['https://user:pass@auth.example:8443/a/b#code=secret', 'https://auth.example:8443/a/b'],
  ['no url at all', REDACTED],
])('bareUrl %s', (text, bare) => {
  expect(urlWithoutQuery(text)).toBe(bare);
});

test.each([
  ['http://tool:3001/choices/7', 'http://tool:3001/choices/7'],
  ['http://tool/choices/0123456789abcdef?token=1#2', `http://tool/choices/${REDACTED}`],
  ['http://a-very-long-host-name.example/v1', 'http://a-very-long-host-name.example/v1'],
  ['http://user:pass@tool/%61%62%63%64%65%66%67%68%69%6a%6b%6c%6d%6e%6f%70', `http://tool/${REDACTED}`],
  ['http://tool/u001b/n', 'http://tool/u001b/n'],
  ['/choices/0123456789abcdef?token=1', `/choices/${REDACTED}`],
  ['no url at all', REDACTED],
])('tokenlessUrl %s', (text, clean) => {
  expect(tokenlessUrl(text)).toBe(clean);
});

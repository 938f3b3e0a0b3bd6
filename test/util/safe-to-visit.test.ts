import { expect, test } from 'vitest';
import { isSafeToVisit } from '../../src/util/url.js';

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

import { describe, expect, it } from 'vitest';
import { allowedDestinations } from '../../src/http/addresses.js';
import { errorOf } from '../support/failing.js';

const LISTED = ['https://runtime.example', 'http://10.0.0.7:8080', 'http://169.254.169.254'];
const why = (url: string, origins: readonly string[] = LISTED) => allowedDestinations(origins)(url);

describe('row 9: allows callbacks', () => {
  it.each([
    'http://127.0.0.1:9/cb?token=1',
    'http://localhost/cb',
    'http://LOCALHOST:1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://[::1]:8/',
    'http://[0:0:0:0:0:0:0:1]/',
    'http://[::ffff:127.0.0.1]/',
    'https://127.99.1.2/',
  ])('to loopback in every spelling: %s', url => expect(why(url, [])).toBeNull());

  it.each(['https://runtime.example/x', 'https://RUNTIME.example:443/', 'http://10.0.0.7:8080/x'])(
    'to a listed origin: %s',
    url => expect(why(url)).toBeNull(),
  );
});

describe('row 9: refuses callbacks', () => {
  it.each([
    ['nonsense', 'the callback URL is not a URL'],
    ['/relative', 'the callback URL is not a URL'],
    ['file:///etc/passwd', 'the callback URL is neither http nor https, but file:'],
    ['gopher://127.0.0.1/', 'the callback URL is neither http nor https, but gopher:'],
    ['javascript:alert(1)', 'the callback URL is neither http nor https, but javascript:'],
    ['http://user@127.0.0.1/', 'the callback URL for http://127.0.0.1 carries a user name or a password'],
    ['http://:x@127.0.0.1/', 'the callback URL for http://127.0.0.1 carries a user name or a password'],
  ])('to anything but a plain http(s) URL: %s', (url, expected) => expect(why(url)).toBe(expected));

  it.each([
    'http://localhost.evil.example/',
    'http://evil.example/#127.0.0.1',
    'http://127.0.0.1.evil.example/',
    'http://localtest.me/',
    'http://sub.localhost/',
    'http://0.0.0.0/',
    'http://[::]/',
    'http://10.0.0.7/',
    'https://10.0.0.7:8080/',
    'http://runtime.example/',
    'https://runtime.example:444/',
    'https://runtime.example.evil.example/',
    'https://evil.example\\@runtime.example/',
  ])('to an origin that is not listed: %s', url => {
    const { origin } = new URL(url);
    expect(why(url)).toBe(`${origin} is not allowed. Allow it with --allow-callback ${origin}`);
  });

  it.each([
    'http://169.254.169.254/latest',
    'http://[fe80::1]/',
    'http://0xa9fea9fe/',
    'http://[fd00:ec2::254]/',
  ])('to link-local and metadata addresses, even if listed: %s', url =>
    expect(why(url, [new URL(url).origin])).toMatch(/address: nothing is posted there$/),
  );

  it('without repeating the token of the path in the reason', () => {
    for (const url of ['http://evil.example/t0ken', 'http://u:t0ken@127.0.0.1/', 'http://169.254.1.1/t0ken'])
      expect(why(url)).not.toContain('t0ken');
  });
});

describe('a listed origin', () => {
  it.each([
    'runtime.example',
    'http://runtime.example/path',
    'ftp://runtime.example',
    'http://u@h',
    'http://h?x',
  ])('must be a valid origin: %s', async origin => {
    const { code, message, hint } = await errorOf(() => allowedDestinations([origin]));
    expect({ code, message }).toEqual({
      code: 'usage',
      message: `"${origin}" is not an origin that callbacks could be allowed for`,
    });
    expect(hint).toContain('http://runtime:8080');
  });
});

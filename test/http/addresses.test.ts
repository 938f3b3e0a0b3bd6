import { describe, expect, it } from 'vitest';
import { addressProblem, allowedDestinations, destinationOf, isLoopback } from '../../src/http/addresses.js';
import { errorOf } from '../support/failing.js';

describe('addresses', () => {
  it.each([
    '169.254.169.254',
    '169.254.0.1',
    'fe80::1',
    'FE80::1',
    'febf::1',
    'fe80::1%eth0',
    '[fe80::1]',
    '::ffff:169.254.169.254',
    '::ffff:a9fe:a9fe',
    '::a9fe:a9fe',
    '64:ff9b::169.254.169.254',
    '64:ff9b:1::a9fe:a9fe',
    '::ffff:0:a9fe:a9fe',
    '2002:a9fe:a9fe::1',
  ])('row 9: refuses a link-local address: %s', address => {
    expect(addressProblem(address)).toBe(`${address} is a link-local address`);
  });

  it.each([
    'fd00:ec2::254',
    'fd00:0ec2:0:0::0254',
    'fd20:ce::254',
    '100.100.100.200',
    'fd00:c1::a9fe:a9fe',
    ...['100.100.100.200', '168.63.129.16', '192.0.0.192'].flatMap(address => [
      address,
      `::ffff:${address}`,
      `::ffff:0:${address}`,
      `::${address}`,
      `64:ff9b::${address}`,
      `64:ff9b:1::${address}`,
    ]),
    '[::ffff:a83f:8110]',
    '2002:6464:64c8::1',
    '2002:a83f:8110::1',
    '2002:c000:00c0::1',
  ])('row 9: refuses a metadata address: %s', address =>
    expect(addressProblem(address)).toBe(`${address} is a cloud's metadata address`),
  );

  it.each([
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '169.253.255.255',
    '169.255.0.0',
    '168.63.129.17',
    '192.0.0.193',
    'fd00:c1::a9fe:a9ff',
    'fec0::1',
    'fd00::1',
    '2002:7f00:1::',
    'localhost',
    '',
  ])('allows other addresses: %s', address => expect(addressProblem(address)).toBeNull());
});

describe('destinations', () => {
  it.each([
    'http://169.254.169.254/latest',
    'http://2852039166/',
    'http://0xa9fea9fe/',
    'http://0251.0376.0251.0376/',
    'http://169.254.43518/',
    'http://169.254.169.254./',
    'http://１６９.254.169.254/',
    'http://[::ffff:169.254.169.254]:80/',
    'https://[fe80::1]/',
  ])('row 9: refuses a link-local address in any spelling: %s', url => {
    expect(() => destinationOf(url)).toThrow(
      expect.objectContaining({ phase: 'address', code: 'REFUSED_ADDRESS' }),
    );
  });

  it.each([
    'ftp://127.0.0.1/',
    'file:///etc/passwd',
    'javascript:1',
    'data:,x',
    '/path',
    '',
    'http://',
    'http://me:secret@127.0.0.1/',
    'http://me@127.0.0.1/',
  ])('row 9: refuses anything but a plain http(s) URL, without repeating a password: %s', url => {
    expect(() => destinationOf(url)).toThrow(expect.objectContaining({ phase: 'address', code: 'BAD_URL' }));
    expect(() => destinationOf(url)).not.toThrow(/secret/);
  });

  it('allows other URLs', () => {
    expect(destinationOf('HTTP://LocalHost:80/a?b#c').href).toBe('http://localhost/a?b#c');
  });
});

describe('loopback', () => {
  it.each(['localhost', '127.0.0.1', '127.255.0.9', '[::1]', '::1', '[::ffff:7f00:1]'])('includes %s', host =>
    expect(isLoopback(host)).toBe(true),
  );

  it.each(['0.0.0.0', '128.0.0.1', '[::]', '[::2]', 'localhost.', 'sub.localhost', ''])(
    'row 9: excludes %j',
    host => expect(isLoopback(host)).toBe(false),
  );
});

const LISTED = ['https://runtime.example', 'http://10.0.0.7:8080', 'http://169.254.169.254'];
const why = (url: string, origins: readonly string[] = LISTED) => allowedDestinations(origins)(url);

describe('row 9: allows callbacks', () => {
  it.each([
    'http://127.0.0.1:9/cb?token=1',
    'http://LOCALHOST:1/',
    'http://127.1/',
    'http://0x7f000001/',
    'http://0177.0.0.1/',
    'http://127.0.0.1./',
    'http://１２７.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
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

  it.each(['http://169.254.169.254/latest', 'http://[fd00:ec2::254]/'])(
    'to link-local and metadata addresses, even if listed: %s',
    url => expect(why(url, [new URL(url).origin])).toMatch(/address; callbacks to this address are refused$/),
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

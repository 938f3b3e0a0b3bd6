import { describe, expect, it } from 'vitest';
import { addressProblem, destinationOf, isLoopback } from '../../src/http/addresses.js';

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

  it.each([
    '0.0.0.0',
    '128.0.0.1',
    '[::]',
    '[::2]',
    'localhost.evil.example',
    'evil-localhost',
    'localhost.',
    'sub.localhost',
    '',
  ])('row 9: excludes %j', host => expect(isLoopback(host)).toBe(false));
});

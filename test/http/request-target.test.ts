import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { requestTarget } from '../../src/http/outgoing-request.js';
import { anyCodePoint } from '../support/characters.js';

const target = (url: string) => requestTarget(url, new URL(url));

describe('TOOL-OPAQUE: a request target is sent as written', () => {
  it.each([
    ['http://h', '/'],
    ['http://h?', '/?'],
    ['http://h?a=b', '/?a=b'],
    ['http://h#f', '/'],
    ['http://h/a/../b/./c', '/a/../b/./c'],
    ['http://h//x//', '//x//'],
    ['http://h/a?', '/a?'],
    ['http://h/a?#f', '/a?'],
    ['http://h/%2e%2E/%c3%A9?q=%2f+%20', '/%2e%2E/%c3%A9?q=%2f+%20'],
    ['http://h/a|b^{c}"<d>`?\'', '/a|b^{c}"<d>`?\''],
    ['http://h/a\\b', '/a\\b'],
    ['http://h:80/x', '/x'],
    ['https://[::1]:8443/x/', '/x/'],
    ['HTTP://H/X', '/X'],
    ['http://bücher.example/t', '/t'],
  ])('%s', (url, written) => expect(target(url)).toBe(written));

  it.each([
    ['http://h/é/😀?ü', '/%C3%A9/%F0%9F%98%80?%C3%BC'],
    ['http://h/\ud800', '/%EF%BF%BD'],
  ])('except for characters that a request line cannot contain: %s', (url, sent) =>
    expect(target(url)).toBe(sent),
  );

  it.each([
    ['http://h/a b/../c', '/c'],
    [' http://h/x ', '/x'],
    ['http://h/a\tb\r\nHost: x', '/abHost:%20x'],
    ['http:\\\\h\\x', '/x'],
    ['http:h/x', '/x'],
    ['http:///h/x', '/x'],
    ['ht\ntp://h/x', '/x'],
  ])('except for URLs that only a lenient parser accepts: %j', (url, sent) => expect(target(url)).toBe(sent));

  it('row 17: any URL results in exactly one line', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), tail => {
        expect(target(`http://h/${tail}`)).toMatch(/^\/[!-~]*$/);
      }),
    );
  });
});

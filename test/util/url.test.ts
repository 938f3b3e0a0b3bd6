import { expect, test } from 'vitest';
import { readUrl } from '../../src/util/url.js';

test('a URL is read once for several questions in a row', () => {
  const first = readUrl('http://127.0.0.1:3000/a?b');
  expect(first?.origin).toBe('http://127.0.0.1:3000');
  expect(readUrl('http://127.0.0.1:3000/a?b')).toBe(first);
});

test('another one is read for itself', () => {
  readUrl('http://one.example/');
  expect(readUrl('http://two.example/')?.hostname).toBe('two.example');
  expect(readUrl('http://one.example/')?.hostname).toBe('one.example');
});

test.each(['', 'callback', '/callback', 'http://', 'http://[::1', 'http://a b/'])('%j is invalid', text => {
  readUrl('http://one.example/');
  expect(readUrl(text)).toBeNull();
});

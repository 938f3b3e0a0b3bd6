import { InvalidArgumentError } from 'commander';
import { describe, expect, test } from 'vitest';
import { byteCount, duration, wholeNumber } from '../../src/commands/options.js';

type Reader = (text: string) => unknown;

describe('valid values', () => {
  test.each<[string, Reader, string, unknown]>([
    ['duration', duration, '2s', 2_000],
    ['duration', duration, '0', 0],
    ['wholeNumber', wholeNumber, '0', 0],
    ['wholeNumber', wholeNumber, '007', 7],
    ['byteCount', byteCount, '65536', 65_536],
    ['byteCount', byteCount, '512k', 524_288],
    ['byteCount', byteCount, '64MiB', 67_108_864],
    ['byteCount', byteCount, '1 GB', 1_073_741_824],
  ])('%s: %j', (_, read, text, value) => {
    expect((read as Reader)(text)).toEqual(value);
  });
});

describe('invalid values', () => {
  test.each<[string, Reader, string[], RegExp]>([
    ['duration', duration, ['', 'soon', '-1s', '1d'], /500ms, 2s, 5m, 1h/],
    ['wholeNumber', wholeNumber, ['', '-1', '1.5', '1e3', ' 1', '1234567890'], /whole number/],
    ['byteCount', byteCount, ['', '-1', '1.5m', '1t', 'm'], /512k, 64m, 1g/],
  ])('%s', (_, read, texts, message) => {
    for (const text of texts) {
      expect(() => (read as Reader)(text)).toThrow(InvalidArgumentError);
      expect(() => (read as Reader)(text)).toThrow(message);
    }
  });
});

import { describe, expect, test } from 'vitest';
import { defineCommand } from '../../src/commands/options.js';

/** Reads `--value <placeholder>` as the commands do. @throws the error of commander, which names the option */
function read(row: string, ...texts: readonly string[]): unknown {
  const about = { name: 'x', description: '', usage: '', examples: {}, guide: '' };
  const command = defineCommand({ ...about, options: row }).exitOverride();
  command.configureOutput({ writeErr() {} });
  return command
    .parse(
      texts.map(text => `--value=${text}`),
      { from: 'user' },
    )
    .opts()['value'];
}

describe('valid values', () => {
  test.each<[string, string, unknown]>([
    ['<duration>', '2s', 2_000],
    ['<duration>', '0', 0],
    ['<n>', '0', 0],
    ['<n>', '007', 7],
    ['<size>', '65536', 65_536],
    ['<size>', '512k', 524_288],
    ['<size>', '64MiB', 67_108_864],
    ['<size>', '1 GB', 1_073_741_824],
    ['<port>', '65535', 65_535],
    ['<name>', '1', '1'],
  ])('%s: %j', (placeholder, text, value) => {
    expect(read(`--value ${placeholder}  about`, text)).toEqual(value);
  });

  test('a repeatable option has a list', () => {
    expect(read('--value <id>  about (repeatable)', 'a', 'b')).toEqual(['a', 'b']);
  });
});

describe('invalid values', () => {
  test.each<[string, string[], RegExp]>([
    ['<duration>', ['', 'soon', '-1s', '1d'], /500ms, 2s, 5m, 1h/],
    ['<n>', ['', '-1', '1.5', '1e3', ' 1', '1234567890'], /whole number/],
    ['<size>', ['', '-1', '1.5m', '1t', 'm'], /512k, 64m, 1g/],
    ['<port>', ['65536'], /from 0 to 65535/],
  ])('%s', (placeholder, texts, message) => {
    for (const text of texts) expect(() => read(`--value ${placeholder}  about`, text)).toThrow(message);
  });
});

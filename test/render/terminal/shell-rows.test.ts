import { execFileSync } from 'node:child_process';
import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { curlOf } from '../../../src/commands/invoke/request.js';
import { shellRows } from '../../../src/render/terminal/shell-rows.js';
import { shellWord } from '../../../src/util/shell-word.js';

/** The words that a shell makes of a command. */
function wordsOf(script: string): string[] {
  return execFileSync('sh', ['-c', script.replace(/^\w+/, 'printf "%s\\0"')], { encoding: 'utf8' })
    .split('\0')
    .slice(0, -1);
}

const BODY = {
  operation: 'edit_file',
  arguments: {
    path: "it's a file",
    text: `${'long '.repeat(30)}漢字👩${"'".repeat(40)}\\${'x'.repeat(200)}`,
  },
  callback_url: 'https://your-callback.example/',
};

const CURL = curlOf({
  method: 'POST',
  url: 'http://127.0.0.1:3001/invoke',
  headers: { 'content-type': 'application/json', authorization: '[redacted]' },
  body: BODY,
});

const LINE = [
  'line',
  "it's",
  `n:=${'7'.repeat(150)}`,
  'a b',
  '\\',
  `${'w o r d '.repeat(40)}`,
  '漢'.repeat(90),
]
  .map(word => shellWord(word, 'linux'))
  .join(' ');

describe.each([
  ['curl', CURL],
  ['a line of many words', LINE],
])('%s', (_, command) => {
  test.each([20, 40, 80, 200])('on rows of %i cells means the same to a shell', columns => {
    const rows = shellRows(command, columns);
    expect(rows.filter(row => stringWidth(row) > columns)).toEqual([]);
    expect(wordsOf(rows.join('\n'))).toEqual(wordsOf(command));
    expect(rows.filter(row => row.trim() === '\\')).toEqual([]);
  });
});

test('a short line stays whole; a long one is split between words first', () => {
  expect(shellRows('curl -X POST \\\n  http://a', 40)).toEqual(['curl -X POST \\', '  http://a']);
  expect(shellRows('protocol-cli invoke one two three', 28)).toEqual([
    'protocol-cli invoke one \\',
    'two three',
  ]);
});

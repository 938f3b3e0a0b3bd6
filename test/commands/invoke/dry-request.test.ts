import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { curlOf, gapsIn, requestText, YOUR_CALLBACK } from '../../../src/commands/invoke/dry-run.js';

const REQUEST = {
  method: 'POST',
  url: 'http://127.0.0.1:3001/invoke',
  headers: { 'content-type': 'application/json', authorization: '[redacted]' },
  body: { operation: 'echo', arguments: { text: "it's $HOME" } },
} as const;
const JSON_ROWS = ['{', '  "operation": "echo",', '  "arguments": {"text":"it\'s $HOME"}', '}'];

test('a person reads the request, then its curl line', () => {
  expect(requestText(REQUEST).split('\n\n')).toEqual([
    'POST http://127.0.0.1:3001/invoke\ncontent-type: application/json\nauthorization: [redacted]',
    JSON.stringify(REQUEST.body, null, 2),
    `${curlOf(REQUEST)}\n`,
  ]);
});

test('a shell takes the curl line word by word, whatever is in it', () => {
  const line = curlOf(REQUEST).replace(/^curl/, 'printf "%s\\n"');
  expect(execFileSync('sh', ['-c', line], { encoding: 'utf8' }).trimEnd().split('\n')).toEqual([
    ...['-X', 'POST', REQUEST.url],
    ...['-H', 'content-type: application/json', '-H', 'authorization: [redacted]', '-d', ...JSON_ROWS],
  ]);
});

test('what has to be put in first is known by its name', () => {
  const body = { id: 'call_1', arguments: { key: '[redacted]' }, callback_url: YOUR_CALLBACK };
  expect(gapsIn({ ...REQUEST, body })).toEqual(['arguments', 'callback_url', 'authorization']);
  expect(gapsIn({ ...REQUEST, headers: {} })).toEqual([]);
});

test('an address cannot write on the terminal', () => {
  expect(requestText({ ...REQUEST, url: 'http://a/\u001b[2J' })).not.toContain('\u001b');
});

test('curl takes brackets and braces in a URL as they are', () => {
  const at = (url: string) => curlOf({ ...REQUEST, url }).split('\n')[0];
  expect(at('http://[::1]:3000/a{b}')).toBe('curl --globoff -X POST \\');
  expect(at('http://localhost:3000/a')).toBe('curl -X POST \\');
});

import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { TransportError } from '../../../src/http/client.js';
import { explainMcp, failureOfMcp, garbageOf, StdioLink } from '../../../src/runtime/mcp/transports.js';

const link = new StdioLink({ command: 'true', maxBytes: 1 });
const url = { kind: 'http', name: 'http://h/mcp' } as const;
const command = { kind: 'stdio', name: 'serve' } as const;
const status = (code: number) =>
  new SdkHttpError(SdkErrorCode.ClientHttpNotImplemented, 'no', { status: code, text: 'not\u001b[31m you' });
const late = new SdkError(SdkErrorCode.RequestTimeout, 'Request timed out');

test('a limit is named', () => {
  expect(explainMcp(late, 'initialize', command, link, 2_000).message).toContain(
    'no answer to initialize came within 2s',
  );
});

describe('why a server cannot be used', () => {
  test.each([
    [
      'an error of JSON-RPC',
      new ProtocolError(-32601, 'Method not found'),
      url,
      'no-discovery',
      /refused tools\/list.*-32601/,
    ],
    ['a status', status(401), url, 'no-discovery', /answered with 401/],
    ['silence of a URL', late, url, 'unreachable', /no answer to tools\/list/],
    ['silence of a command', late, command, 'command-failed', /"serve": no answer/],
    [
      'its end',
      new TransportError('answer', 'ENDED', 'the server ended with status 3'),
      command,
      'command-failed',
      /status 3/,
    ],
    [
      'an answer of another kind',
      new Error('expected object'),
      url,
      'unreachable',
      /none of MCP: "expected object"/,
    ],
  ] as const)('%s', (_, error, peer, code, message) => {
    const explained = explainMcp(error, 'tools/list', peer, link);
    expect(explained.code).toBe(code);
    expect(explained.message).toMatch(message);
    expect(explained.hint).toBeTruthy();
  });

  test('foreign words are made visible', () => {
    expect(explainMcp(status(500), 'initialize', url, link).faults?.join()).not.toContain('\u001b');
  });
});

test('failures are told as the facts of a transcript', () => {
  expect(failureOfMcp(new ProtocolError(-1, 'no', { a: 1 }))).toMatchObject({
    kind: 'error',
    code: -1,
    data: { a: 1 },
  });
  expect(failureOfMcp(status(503))).toMatchObject({ kind: 'status', status: 503 });
  expect(failureOfMcp(new Error('x'))).toEqual({ kind: 'broken', phase: 'answer', code: 'UNREADABLE' });
});

test('lines that were no message are counted, and the first is quoted', () => {
  expect(garbageOf(link)).toEqual([]);
  const noisy = new StdioLink({ command: 'true', maxBytes: 1 });
  Object.assign(noisy.garbage, { count: 2, first: 'Hello' });
  expect(garbageOf(noisy)).toEqual(['it wrote 2 lines that are no JSON-RPC message to its stdout: "Hello"']);
});

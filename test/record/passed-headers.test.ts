import { describe, expect, test } from 'vitest';
import { headersFor, passedHeaders } from '../../src/record/received.js';

const TOOL = 'http://127.0.0.1:3001';

describe('headers that go on', () => {
  test('are the sender’s own, not those of its connection', () => {
    expect(
      passedHeaders({
        authorization: 'Bearer canary',
        'content-type': 'text/odd',
        'x-own': 'kept',
        host: 'recorder',
        connection: 'keep-alive, X-Hop',
        'x-hop': 'gone',
        'keep-alive': 'timeout=5',
        'content-length': '2',
        'transfer-encoding': 'chunked',
        'accept-encoding': 'gzip',
        origin: 'http://web.example',
        te: 'trailers',
        expect: '100-continue',
      }),
    ).toEqual({ authorization: 'Bearer canary', 'content-type': 'text/odd', 'x-own': 'kept' });
  });

  test('row 12: go whole to the origin they were given for', () => {
    const headers = { authorization: 'Bearer canary', 'content-type': 'application/json' };
    expect(headersFor(`${TOOL}/invoke`, TOOL, headers)).toEqual({ headers, withheld: [] });
  });

  test.each(['http://127.0.0.1:3002/invoke', 'https://127.0.0.1:3001/invoke', 'no url'])(
    'row 12: go without what may be a credential to %s',
    url => {
      const headers = { authorization: 'Bearer canary', 'x-api-key': 'canary', accept: '*/*' };
      expect(headersFor(url, TOOL, headers)).toEqual({
        headers: { accept: '*/*' },
        withheld: ['authorization', 'x-api-key'],
      });
    },
  );
});

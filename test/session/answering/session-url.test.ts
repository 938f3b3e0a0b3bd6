import { describe, expect, it } from 'vitest';
import { sessionUrl } from '../../../src/session/answering/session-url.js';

it.each([
  ['http://127.0.0.1:3001', 's1', 'http://127.0.0.1:3001/api/v2/sessions/s1'],
  ['http://127.0.0.1:3001/', 's1', 'http://127.0.0.1:3001/api/v2/sessions/s1'],
  ['https://agp.example.com/api/v2', 's1', 'https://agp.example.com/api/v2/sessions/s1'],
  ['https://agp.example.com/api/v2/', 's1', 'https://agp.example.com/api/v2/sessions/s1'],
  ['https://example.com/eu/agents', 's1', 'https://example.com/eu/agents/api/v2/sessions/s1'],
  ['http://h', 'a/b?c#d é', 'http://h/api/v2/sessions/a%2Fb%3Fc%23d%20%C3%A9'],
])('%s and %s', (base, id, url) => expect(sessionUrl(base, id)).toBe(url));

describe('what is refused before anything is sent', () => {
  it.each([
    ['127.0.0.1:3001', 's1', /no http or https URL/],
    ['ftp://example.com', 's1', /no http or https URL/],
    ['http://me:secret@example.com', 's1', /credentials/],
    ['http://example.com?x=1', 's1', /query/],
    ['http://example.com', '', /no session id/],
    ['http://example.com', '..', /no session id/],
  ])('%s and "%s"', (base, id, said) =>
    expect(() => sessionUrl(base, id)).toThrow(
      expect.objectContaining({ code: 'usage', message: expect.stringMatching(said) }),
    ),
  );
});

import { describe, expect, test } from 'vitest';
import { Content } from '../../src/events/content.js';
import { refusalTexts } from '../../src/events/refusal.js';

const URL_SENT = 'http://127.0.0.1:3001/invoke';

const answer = (status: number, body = '', headers: Record<string, string> = {}) =>
  refusalTexts({ status, headers, body: new Content(Buffer.from(body)) }, URL_SENT);

const json = (value: unknown) => JSON.stringify(value);

const CSRF = `<!DOCTYPE html>
<html lang="en"><head><title>403 Forbidden</title><style>html * { padding:0; }</style></head>
<body><div id="summary"><h1>Forbidden <span>(403)</span></h1>
  <p>CSRF verification failed. Request aborted.</p></div></body></html>`;

describe('an answer other than 200 says', () => {
  test.each<[string, number, string, Record<string, string>, readonly string[]]>([
    [
      'a redirect to a slash',
      307,
      '',
      { location: '/invoke/' },
      ['it redirects to /invoke/, with a slash at the end'],
    ],
    [
      'a redirect to another path',
      301,
      '',
      { location: 'http://127.0.0.1:3001/call' },
      ['it redirects to /call'],
    ],
    [
      'a redirect to a login',
      302,
      'x',
      { location: 'https://id.example/login?state=s' },
      ['it redirects to https://id.example/login?…'],
    ],
    [
      'a page',
      403,
      CSRF,
      { 'content-type': 'text/html' },
      ['Forbidden (403) CSRF verification failed. Request aborted.'],
    ],
    [
      'a page with a title only',
      502,
      '<html><head><title>502 Bad Gateway</title></head></html>',
      {},
      ['502 Bad Gateway'],
    ],
    ['a text', 500, ' Server Error\n', {}, ['Server Error']],
    ['nothing', 500, '', {}, []],
    [
      'fields, as FastAPI',
      422,
      json({
        detail: [{ type: 'missing', loc: ['body', 'call_id'], msg: 'Field required', input: { a: 1 } }],
      }),
      {},
      ['body.call_id: Field required'],
    ],
    [
      'a message, as Fastify',
      400,
      json({
        statusCode: 400,
        code: 'FST_ERR_VALIDATION',
        error: 'Bad Request',
        message: "body must have required property 'x'",
      }),
      {},
      ["body must have required property 'x'", 'Bad Request'],
    ],
    [
      'fields, as Spring',
      400,
      json({
        status: 400,
        error: 'Bad Request',
        errors: [{ field: 'callId', defaultMessage: 'must not be null' }],
      }),
      {},
      ['Bad Request', 'callId: must not be null'],
    ],
    ['fields by name', 400, json({ errors: { text: ['required'] } }), {}, ['text: required']],
    ['an object without messages', 400, json({ ok: false }), {}, ['{"ok":false}']],
    ['JSON that was cut', 422, '{"detail":[{"loc":["body","x"]', {}, ['{"detail":[{"loc":["body","x"]']],
  ])('%s', (_, status, body, headers, texts) => {
    expect(answer(status, body, headers)).toEqual(texts);
  });
});

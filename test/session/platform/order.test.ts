import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import { script, toolResult } from './build.js';
import { platformWith } from './client.js';

const S = '/session_1';
const RESULTS = `${S}/tool_results`;
const ONE = { rounds: [{ calls: [{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }] }] };
const NO_KEY = { authorization: '' };
const PLAIN = { 'content-type': 'text/plain' };
const HUGE = 'x'.repeat(6 * 1024 * 1024);

describe('checks the key first, then the session, then the body', () => {
  test.each<[string, string, string, string | undefined, Record<string, string>]>([
    ['another media type', 'POST', RESULTS, '{}', PLAIN],
    ['a body too large', 'POST', RESULTS, HUGE, {}],
    ['an encoded body', 'POST', RESULTS, '{}', { 'content-encoding': 'gzip' }],
    ['an unknown method', 'PUT', RESULTS, '{}', {}],
    ['another unsupported method', 'PATCH', S, undefined, {}],
    ['an unknown session', 'POST', '/unknown/tool_results', '{}', PLAIN],
  ])('without the key %s is 401', async (_, method, path, body, headers) => {
    await using it = await platformWith({ script: script(ONE) });
    expect(await it.ask(method, path, body, { ...headers, ...NO_KEY })).toMatchObject({
      status: 401,
      body: { message: expect.any(String) },
    });
  });

  test.each<[string, string, string | undefined, Record<string, string>]>([
    ['POST', 'tool_results', '{}', PLAIN],
    ['POST', 'tool_results', HUGE, {}],
    ['POST', 'messages', '{}', PLAIN],
    ['PUT', 'tool_results', '{}', {}],
  ])('%s %s of an unknown session is 404 for any body', async (method, name, body, headers) => {
    await using it = await platformWith({ script: script(ONE) });
    expect(await it.ask(method, `/unknown/${name}`, body, headers)).toMatchObject({
      status: 404,
      body: { detail: 'Session not found.' },
    });
  });

  test.each(['', RESULTS, `${S}/messages`])(
    'POST %s with another media type is 422 with a reason',
    async path => {
      await using it = await platformWith({ script: script(ONE) });
      expect(await it.ask('POST', path, JSON.stringify(toolResult('call_1')), PLAIN)).toMatchObject({
        status: 422,
        body: { detail: [{ type: 'content_type', loc: ['header', 'Content-Type'], input: 'text/plain' }] },
      });
      expect(it.platform.sessions()).toMatchObject([{ pending: [{}] }]);
    },
  );

  test('results that are refused by their headers are findings, each once', async () => {
    await using it = await platformWith({ script: script(ONE) });
    await it.ask('POST', RESULTS, '{}', { ...PLAIN, ...NO_KEY });
    await it.ask('POST', '/unknown/tool_results', HUGE);
    await it.ask('POST', RESULTS, '{}', PLAIN);
    await it.ask('POST', RESULTS, HUGE);
    const refused = it.platform.verify().problems.examples.filter(({ kind }) => kind === 'refused');
    expect(refused).toMatchObject([{ status: 401 }, { status: 404 }, { status: 422 }, { status: 413 }]);
  });

  test('an unsupported method: 405 with the supported ones, each once', async () => {
    await using it = await platformWith();
    const allowed = (path: string) =>
      new Promise(resolve => {
        const headers = { authorization: `Bearer ${it.platform.key}` };
        request(`${it.platform.url}/api/v2/sessions${path}`, { method: 'PUT', headers }, response =>
          resolve([response.resume().statusCode, response.headers['allow']]),
        ).end();
      });
    expect(await allowed('')).toEqual([405, 'GET, POST']);
    expect(await allowed(S)).toEqual([405, 'GET, DELETE']);
    expect(await allowed(RESULTS)).toEqual([405, 'POST']);
  });
});

test('the schema of a tool is kept whole, with any keys', async () => {
  await using it = await platformWith();
  const tools = '[{"name":"a","input_schema":{"__proto__":{"a":1},"type":"object"}}]';
  for (const body of [`{"agent":{"tools":${tools}}}`, `{"overrides":{"agent.tools":${tools}}}`])
    expect((await it.ask('POST', '', body)).text).toContain(`"tools":${tools}`);
});

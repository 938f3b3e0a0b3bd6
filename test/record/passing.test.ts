import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { callbackRedactor } from '../../src/events/shareable.js';
import { transcriptWriter } from '../../src/events/transcript-writer.js';
import { LIMITS } from '../../src/util/limits.js';
import { ask } from '../e2e/support/http.js';
import { expectCpuBelow, leastCpuMs } from '../support/cpu-ms.js';
import { type Serving, startServing } from '../support/serving.js';
import { type Recording, startRecording } from './recording.js';

/** The tool gives its toolset on GET, and what it is asked to say on POST. */
let tool: Serving;
let recording: Recording;

beforeEach(async () => {
  tool = await startServing((response, { method, headers }) => {
    if (method === 'GET')
      return void response
        .writeHead(200, { 'content-type': 'application/json', 'x-tool': 'kept' })
        .end(`{ "name":"t",  "endpoint" : "http://${headers.host}/deep/invoke?k=1" ,"odd":1e400}`);
    response.writeHead(200, { 'x-ack': 'kept' }).end();
  });
  recording = await startRecording(tool.url);
});
afterEach(async () => {
  await recording.close();
  await tool[Symbol.asyncDispose]();
});

const posts = () => tool.requests.filter(({ method }) => method === 'POST');
const invoke = (body: string | Uint8Array, headers?: Record<string, string>) =>
  ask(`${recording.url}/invoke`, { body, ...(headers && { headers }) });
const OURS = () => new RegExp(`"${recording.url}/callback/[\\w-]{43}"`, 'g');

describe('discovery', () => {
  test('is the tool’s own document with our endpoint, otherwise byte for byte', async () => {
    const answer = await ask(`${recording.url}/.well-known/rap-toolset`, { method: 'GET' });
    expect(answer).toMatchObject({ status: 200, headers: { 'x-tool': 'kept' } });
    expect(answer.body).toBe(`{ "name":"t",  "endpoint" : "${recording.url}/invoke" ,"odd":1e400}`);
  });

  test('contains our address as the requester reaches us', async () => {
    await using open = await startRecording(tool.url, { allowHosts: ['recorder'] });
    const { body } = await ask(`${open.url}/.well-known/rap-toolset`, {
      method: 'GET',
      headers: { host: 'recorder:9' },
    });
    expect(body).toContain('"http://recorder:9/invoke"');
  });
});

describe('an invocation', () => {
  test('before any discovery triggers one, and goes to the endpoint unchanged', async () => {
    expect((await invoke('{}')).status).toBe(200);
    expect(tool.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /.well-known/rap-toolset',
      'POST /deep/invoke?k=1',
    ]);
  });

  test('property: only the callback URL differs from what was sent', async () => {
    const value = fc.record(
      { operation: fc.string(), id: fc.jsonValue(), group_id: fc.jsonValue(), more: fc.jsonValue() },
      { requiredKeys: [] },
    );
    await fc.assert(
      fc.asyncProperty(value, fc.constantFrom(0, 1, '\t'), fc.webPath(), async (fields, indent, path) => {
        const callback_url = `http://127.0.0.1:9${path}`;
        const sent = JSON.stringify({ ...fields, callback_url, last: '\ud800"\\' }, null, indent);
        expect((await invoke(sent)).status).toBe(200);
        const { body } = posts().at(-1) ?? { body: '' };
        expect(body).not.toBe(sent);
        expect(body.replace(OURS(), () => JSON.stringify(callback_url))).toBe(sent);
      }),
      { numRuns: 15 },
    );
  });

  test.each<[string, string | Buffer]>([
    ['malformed JSON', '{"callback_url": "http://127.0.0.1:9/x"'],
    ['a body that is not an object', '["callback_url"]'],
    ['no callback URL', '{"id":"c","group_id":"t","extra":[1.0]}'],
    ['a callback URL that is not a string', '{"callback_url":{"callback_url":"http://127.0.0.1:9/"}}'],
    ['an invalid callback URL', '{"callback_url":"nowhere"}'],
    ['a callback URL with another scheme', '{"callback_url":"ftp://127.0.0.1/x"}'],
    ['nothing', ''],
    ['too many levels', `${'['.repeat(200)}${']'.repeat(200)}`],
  ])('with %s is passed on unchanged', async (_, body) => {
    expect((await invoke(body)).status).toBe(200);
    expect(posts().map(request => request.body)).toEqual([String(body)]);
    expect(recording.warnings).toEqual([]);
  });

  test('of another media type is passed on unchanged', async () => {
    expect((await invoke('id=1', { 'content-type': 'application/x-www-form-urlencoded' })).status).toBe(200);
    expect(posts()[0]).toMatchObject({
      body: 'id=1',
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
    });
  });

  test('with two callback URLs has ours in place of both', async () => {
    await invoke('{"callback_url":"http://127.0.0.1:9/a","id":"c","callback_url":"http://127.0.0.1:9/b"}');
    const [{ body } = { body: '' }] = posts();
    expect(body.replace(OURS(), '"OURS"')).toBe('{"callback_url":"OURS","id":"c","callback_url":"OURS"}');
  });

  test('with an escaped callback URL has ours', async () => {
    await invoke('{"callback\\u005furl":"http:\\/\\/127.0.0.1:9\\/a"}');
    expect(posts()[0]?.body.replace(OURS(), '"OURS"')).toBe('{"callback\\u005furl":"OURS"}');
  });

  test('has the sender’s headers, except those of the connection', async () => {
    await invoke('{}', { authorization: 'Bearer canary', 'x-own': '1', 'accept-encoding': 'gzip' });
    expect(posts()[0]?.headers).toMatchObject({
      authorization: 'Bearer canary',
      'x-own': '1',
      'accept-encoding': 'identity',
      host: new URL(tool.url).host,
    });
  });

  test('gets the tool’s headers in the response', async () => {
    expect((await invoke('{}')).headers).toMatchObject({ 'x-ack': 'kept' });
  });

  test.each<[string, string[]]>([
    ['one cookie', ['a=1; Expires=Wed, 21 Oct 2026 07:28:00 GMT']],
    ['several cookies', ['a=1; Path=/', 'b="2, 3"', 'c=4']],
  ])('gets %s in as many headers as the tool sent', async (_, cookies) => {
    await using setting = await startServing((response, { headers }) =>
      response.writeHead(200, { 'set-cookie': cookies }).end(`{"endpoint":"http://${headers.host}/invoke"}`),
    );
    await using proxy = await startRecording(setting.url);
    expect((await ask(`${proxy.url}/.well-known/rap-toolset`, { method: 'GET' })).headers).toMatchObject({
      'set-cookie': cookies,
    });
    expect((await ask(`${proxy.url}/invoke`, { body: '{}' })).headers).toMatchObject({
      'set-cookie': cookies,
    });
  });
});

describe('row 9: a callback URL', () => {
  const body = (callback_url: string) => JSON.stringify({ id: 'c', group_id: 't', callback_url });

  test.each([
    'http://10.0.0.7/x',
    'http://169.254.169.254/latest',
    'http://[::ffff:169.254.169.254]/',
    'http://runtime.example/x',
    'http://me:secret@127.0.0.1:9/x',
    `http://127.0.0.1:9/${'x'.repeat(LIMITS.urlChars.value)}`,
  ])('%s is refused, and the tool is not called', async url => {
    expect(await invoke(body(url))).toMatchObject({
      status: 403,
      body: 'The recorder may not post to this callback_url.\n',
    });
    expect(posts()).toEqual([]);
    expect(recording.roundTrips('runtime-side')).toEqual(['runtime invocation 403']);
    expect(recording.warnings).toHaveLength(1);
  });

  test('of an allowed origin is passed on', async () => {
    await using open = await startRecording(tool.url, { allowCallbacks: ['http://runtime.example'] });
    await ask(`${open.url}/invoke`, { body: body('http://runtime.example/x') });
    expect(posts()).toHaveLength(1);
  });
});

describe('the guard', () => {
  test('row 2: a foreign Host is refused on every route', async () => {
    for (const path of ['/invoke', '/close_thread', '/.well-known/rap-toolset', '/callback/x'])
      expect(await ask(recording.url + path, { headers: { host: 'evil.example' } })).toMatchObject({
        status: 403,
      });
    expect(tool.requests).toEqual([]);
  });

  test('row 3: a web page is refused on every route', async () => {
    for (const path of ['/invoke', '/close_thread', '/cancel_tool_call', '/callback/x', '/choices/x'])
      expect(await ask(recording.url + path, { headers: { origin: 'null' } })).toMatchObject({ status: 403 });
    expect(tool.requests).toEqual([]);
  });

  test('row 1: a wrong address is a bare 404 with a warning', async () => {
    expect(await ask(`${recording.url}/callback/${'x'.repeat(43)}`)).toMatchObject({ status: 404, body: '' });
    expect(recording.events.map(event => ('url' in event ? event.url : event.kind))).toEqual([
      '/callback/…',
      'response',
    ]);
    expect(recording.roundTrips('tool-side')).toEqual(['tool callback 404']);
  });

  test('a message outside the protocol is a 404', async () => {
    expect(await ask(`${recording.url}/elsewhere`)).toMatchObject({ status: 404 });
    expect(recording.warnings).toEqual([
      'a request was refused with 404 (no route for this path): POST /elsewhere',
    ]);
  });

  test('row 15: a message that is too large is a 413 and is not passed on', async () => {
    await using small = await startRecording(tool.url, { maxBody: 100 });
    expect(await ask(`${small.url}/invoke`, { body: 'x'.repeat(101) })).toMatchObject({ status: 413 });
    expect(small.roundTrips('runtime-side')).toEqual(['runtime invocation 413']);
    expect(posts()).toEqual([]);
  });
});

describe('notices', () => {
  test.each(['/close_thread', '/cancel_tool_call', '/migrate'])(
    "%s goes to the tool's base URL",
    async path => {
      const body = '{"thread_id":"t", "session_id":"t"}';
      expect((await ask(recording.url + path, { body })).status).toBe(200);
      expect(posts()).toMatchObject([{ url: path, body }]);
    },
  );
});

test('row 15: a body with very many keys costs at most four times as much as parsing it', async () => {
  const members = Array.from({ length: 300_000 }, (_, n) => `"k${n.toString(36)}":${n % 10}`).join(',');
  const callback = 'http://127.0.0.1:9/callback/token-of-one-call';
  const body = `{"operation":"x","id":"i","group_id":"g","callback_url":"${callback}","arguments":{${members}}}`;
  const bytes = Buffer.from(body);
  const redactor = callbackRedactor();
  const { event: lines } = transcriptWriter(redactor);
  const written: string[] = [];
  recording.log.subscribe(event => {
    redactor.learn(event);
    written.push(...lines(event));
  });
  const parsing = await leastCpuMs(3, () => JSON.parse(body));
  await expectCpuBelow(4 * parsing, async () => expect((await invoke(bytes)).status).toBe(200));
  const bodies = written.filter(line => line.startsWith('{"kind":"body"'));
  expect(bodies.filter(line => line.includes('arguments')).length).toBeGreaterThanOrEqual(2); // on either side
});

import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { checkTranscript } from '../../src/check/judge.js';
import { CallLog } from '../../src/events/call-log.js';
import type { Event } from '../../src/events/events.js';
import { eventsOnSide, roundTripsIn } from '../../src/events/round-trips.js';
import { ask } from '../e2e/support/http.js';
import { type Serving, startServing } from '../support/serving.js';
import { type Recording, startRecording } from './recording.js';

/** A tool that acknowledges calls; the tests post its callbacks. */
let tool: Serving;
let recording: Recording;

const TOOLS = [{ name: 'o', description: 'An operation.', inputSchema: { type: 'object' } }];

beforeEach(async () => {
  tool = await startServing((response, { method, headers }) => {
    if (method !== 'GET') return void response.end();
    const toolset = { name: 't', endpoint: `http://${headers.host}/invoke`, tools: TOOLS };
    response.setHeader('content-type', 'application/json').end(JSON.stringify(toolset));
  });
  recording = await startRecording(tool.url);
});
afterEach(async () => {
  await recording.close();
  await tool[Symbol.asyncDispose]();
});

/** Makes a call. Returns the callback URL that the tool got. */
async function invoke(id: string): Promise<string> {
  const callback_url = 'http://127.0.0.1:9/callback/of-the-runtime';
  const body = JSON.stringify({
    operation: 'o',
    arguments: {},
    id,
    group_id: `thread of ${id}`,
    callback_url,
  });
  expect(await ask(`${recording.url}/invoke`, { body })).toMatchObject({ status: 200 });
  return JSON.parse(tool.requests.at(-1)?.body ?? '').callback_url;
}

const resultOf = (id: string, fields: object = {}) =>
  JSON.stringify({ type: 'tool_result', id, group_id: `thread of ${id}`, text: 'done', ...fields });

/** The posts to a wrong address, with what the tool was answered. */
const straysIn = (events: readonly Event[]) =>
  [...roundTripsIn(events).values()]
    .filter(({ request }) => request.purpose === 'callback')
    .map(({ request: { url, calls, hop, body }, response }) => ({
      ...{ url, calls, hop, body: body?.text, status: response?.status, refusal: response?.refusal },
    }));

/** Both ways to get the URL wrong that lose the whole result. */
const WRONG: readonly [string, (url: string) => string, shown: string][] = [
  ['<origin>/callback', url => new URL('/callback', url).href, '/callback'],
  ['/callbacks/<token>', url => url.replace('/callback/', '/callbacks/'), '/callbacks/…'],
  ['a part of the token', url => url.slice(0, -3), '/callback/…'],
  ['a path of its own', url => new URL('/results?of=c', url).href, '/results?of=c'],
];

describe('a result that is posted to a wrong address', () => {
  test.each(WRONG)('%s: is a bare 404, and is recorded with its body', async (_, wrong, shown) => {
    const url = await invoke('c');
    const body = resultOf('c');
    expect(await ask(wrong(url), { body })).toMatchObject({ status: 404, body: '' });
    expect(tool.requests).toHaveLength(2); // discovery and invocation: nothing was passed on
    expect(straysIn(recording.events)).toEqual([
      { url: shown, hop: 'tool-side', body, status: 404, refusal: 'wrong-address' },
    ]);
    expect(recording.warnings).toEqual([]);
  });

  test.each(WRONG)('%s: fails TOOL-OPAQUE, which names the call', async (_, wrong, shown) => {
    const url = await invoke('c');
    await ask(wrong(url), { body: resultOf('c') });
    const { checks } = await checkTranscript(recording.events, { observer: 'recorder', sides: ['tool'] });
    expect(checks.filter(({ status }) => status !== 'pass' && status !== 'not-applicable')).toMatchObject([
      {
        id: 'TOOL-OPAQUE',
        status: 'fail',
        reason: `a tool_result was posted to a wrong address: ${shown}`,
        calls: [{ operation: 'o', id: 'c' }],
      },
    ]);
  });

  test('belongs to the call that its ids name, and does not end it', async () => {
    const urls = [await invoke('a'), await invoke('b')];
    await ask(new URL('/callback', urls[0]).href, { body: resultOf('b') });
    const log = new CallLog({ observer: 'recorder' });
    for (const event of eventsOnSide('tool-side', recording.events)) log.apply(event);
    expect(straysIn(log.of('a'))).toEqual([]);
    expect(straysIn(log.of('b'))).toHaveLength(1);
    expect(log.history.exchanges.get('b')).toMatchObject({ settled: null, arrivals: [] });
  });

  test('with the id of a call in another thread belongs to no call', async () => {
    const url = await invoke('a');
    await ask(new URL('/callback', url).href, { body: resultOf('a', { group_id: 'thread of b' }) });
    const log = new CallLog({ observer: 'recorder' });
    for (const event of eventsOnSide('tool-side', recording.events)) log.apply(event);
    expect(straysIn(log.of(null))).toHaveLength(1);
  });
});

describe('another request to an unknown path', () => {
  test.each([
    ['POST', '{"type":"order","id":"c"}'],
    ['POST', 'not JSON'],
    ['PUT', '{"type":"tool_result"}'],
    ['GET', ''],
  ])('%s %s is a 404 with a warning, and its body is not kept', async (method, body) => {
    expect(await ask(`${recording.url}/orders`, { method, body })).toMatchObject({ status: 404, body: '' });
    expect(recording.events).toMatchObject([
      {
        kind: 'warned',
        message: `a request was refused with 404 (no route for this path): ${method} /orders`,
      },
    ]);
  });

  test('with the path of a callback is recorded as one, without its body', async () => {
    expect(await ask(`${recording.url}/callbacks/1`, { body: 'not JSON' })).toMatchObject({ status: 404 });
    expect(straysIn(recording.events)).toEqual([
      { url: '/callbacks/1', hop: 'tool-side', status: 404, refusal: 'wrong-address' },
    ]);
  });

  test('rows 2 and 3: the guard still holds, and keeps no body', async () => {
    for (const [name, value] of [
      ['host', 'evil.example'],
      ['origin', 'null'],
    ] as const)
      expect(
        await ask(`${recording.url}/callback`, { headers: { [name]: value }, body: resultOf('c') }),
      ).toMatchObject({
        status: 403,
      });
    expect(straysIn(recording.events).map(({ body, status }) => ({ body, status }))).toEqual([
      { status: 403 },
      { status: 403 },
    ]);
  });

  test('row 15: a result that is too large is a 413, and is not kept', async () => {
    await using small = await startRecording(tool.url, { maxBody: 100 });
    const body = resultOf('c', { text: 'x'.repeat(100) });
    expect(await ask(`${small.url}/callback`, { body })).toMatchObject({ status: 413 });
    expect(straysIn(small.events)).toMatchObject([{ status: 413, body: undefined }]);
  });

  test('a known path with another method is still a 405', async () => {
    expect(await ask(`${recording.url}/invoke`, { method: 'PUT' })).toMatchObject({ status: 405 });
    expect(await ask(`${recording.url}/.well-known/rap-toolset`)).toMatchObject({ status: 405 });
  });
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Clock, systemClock } from '../../src/system/clock.js';
import { type RunningTool, startFixtureTool } from '../../src/tool/fixture-tool.js';
import { invokeOnce } from '../peers/runtime.mjs';

const DEMO: unknown = JSON.parse(readFileSync(new URL('../../fixtures/demo.json', import.meta.url), 'utf8'));
/** Nobody waits for a demonstration's delays here. */
const impatient: Clock = { ...systemClock, after: (_, callback) => systemClock.after(0, callback) };
let tool: RunningTool;
beforeAll(async () => {
  tool = await startFixtureTool(DEMO, impatient);
});
afterAll(() => tool.close());

const post = (path: string, body: string, headers: Record<string, string> = {}) =>
  fetch(tool.url + path, {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...headers },
  });

async function resultOf(operation: string, args: Record<string, unknown>, callId: string | null = null) {
  const { ack, callbacks, invocation } = await invokeOnce(tool.url, operation, args, { callId });
  expect(ack.status).toBe(200);
  expect(callbacks).toHaveLength(1);
  const [callback] = callbacks;
  const { group_id, id, call_id } = invocation;
  expect(callback?.body).toMatchObject({ type: 'tool_result', group_id, id, call_id });
  expect(callback?.headers['content-type']).toBe('application/json');
  expect(callback?.url).toBe(invocation.callback_url.replace(/^http:\/\/[^/]+/, ''));
  return callback?.body ?? {};
}

describe('TOOL-ALWAYS, TOOL-ID, TOOL-OPAQUE: every operation answers a runtime that shares no code with us', () => {
  test.each([
    ['edit_file', { path: 'a.txt' }, 'Replaced text in a.txt'],
    [
      'deploy',
      { service: 'api', replicas: 2 },
      'Deployment of api completed successfully. Instance i-0abc123 is running.',
    ],
    ['list_instances', {}, '{"instances":[{"id":"i-0abc123","state":"running"}],"count":1}'],
    ['list_instances', { state: 'stopped' }, '{"instances":[],"count":0}'],
    ['rate_limited', {}, 'Error: API rate limit exceeded. Retry after 60 seconds.'],
  ])('%s %j', async (operation, args, text) => {
    expect(await resultOf(operation, args)).toMatchObject({ text });
  });

  test('TOOL-CALLID: a call_id comes back', async () => {
    await resultOf('rate_limited', {}, 'call-7');
  });

  test('TOOL-FALLBACK: the display ends with one short line', async () => {
    const { display_as } = await resultOf('edit_file', { path: 'a.txt' });
    expect(display_as).toMatchObject([
      { type: 'diff', content: { path: 'a.txt', patch: expect.stringContaining('+++ b/a.txt') } },
      { type: 'text', content: 'edit_file a.txt: 4 insertions, 2 deletions' },
    ]);
  });
});

describe('TOOL-VALIDATE: what cannot be carried out gets 200 and an error result', () => {
  test('TOOL-UNKNOWN-OP', async () => {
    expect(await resultOf('edit_fiel', {})).toMatchObject({
      text: 'Error: unknown operation "edit_fiel". Use one of edit_file, deploy, list_instances, rate_limited.',
    });
  });

  test.each([
    ['edit_file', {}, '$.path is required'],
    ['edit_file', { path: 7 }, '$.path must be string'],
    ['edit_file', { path: '', more: 1 }, '$.more is not one of the properties'],
    ['deploy', { service: 'api', replicas: 10 }, '$.replicas must be <= 9'],
  ])('TOOL-BAD-ARGS: %s %j', async (operation, args, fault) => {
    const { text } = await resultOf(operation, args);
    expect(text).toMatch(/^Error: the arguments do not fit: .* Correct them and call again\.$/);
    expect(text).toContain(fault);
  });
});

describe('what comes in besides', () => {
  test.each(['{', '[]', '{}', '{"operation":"edit_file"}', '\u0000'])(
    'TOOL-MALFORMED: %j is acknowledged',
    async body => {
      expect((await post('/invoke', body)).status).toBe(200);
    },
  );

  test.each(['/close_thread', '/cancel_tool_call'])(
    'TOOL-CLOSE, TOOL-CANCEL: %s answers 200, with nothing, always',
    async path => {
      for (const body of ['{"thread_id":"x","tool_call_id":"../../y"}', '{}', 'no JSON']) {
        const answer = await post(path, body);
        expect([answer.status, await answer.text()]).toEqual([200, '']);
      }
    },
  );

  test('row 3: a web page may not call it', async () => {
    expect((await post('/invoke', '{}', { origin: 'https://evil.example' })).status).toBe(403);
  });
});

test('TOOL-DISCOVER: the endpoint is its own', async () => {
  const answer = await fetch(`${tool.url}/.well-known/rap-toolset`);
  expect(answer.headers.get('content-type')).toBe('application/json');
  expect(await answer.json()).toMatchObject({ name: 'demo', endpoint: `${tool.url}/invoke` });
});

test('TOOL-ISOLATE: concurrent calls keep their ids apart', async () => {
  const paths = Array.from({ length: 8 }, (_, index) => `file-${index}.txt`);
  const results = await Promise.all(paths.map(path => resultOf('edit_file', { path })));
  expect(results.map(({ text }) => text)).toEqual(paths.map(path => `Replaced text in ${path}`));
});

test('a file that is none is told as such', async () => {
  await expect(startFixtureTool({ version: 2 })).rejects.toThrow();
});

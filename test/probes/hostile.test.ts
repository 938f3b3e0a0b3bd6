import { describe, expect, test } from 'vitest';
import { checksOf } from '../../src/check/judge.js';
import { quota } from '../../src/check/probes/quota.js';
import type { Event } from '../../src/events/events.js';
import { createLog } from '../../src/events/log.js';
import { isHostOfTool } from '../../src/http/addresses.js';
import { LIMITS } from '../../src/util/limits.js';
import { deferred } from '../support/deferred.js';
import { runnableSleep } from '../support/runnable-sleep.js';
import { startServing } from '../support/serving.js';
import { answersOf, probing, probingInto } from './probing.js';
import { operation, post, resultOf, startRawTool } from './tools.js';

describe.concurrent('a hostile or broken tool', () => {
  test.sequential('threats, row 15: reads only 200 of 10,000 callbacks for one call', async () => {
    const flooded = deferred<void>();
    await using tool = await startRawTool({
      async invoked(invocation, response) {
        response.end();
        const hundred = () =>
          Array.from({ length: 100 }, () => post(invocation['callback_url'], resultOf(invocation)));
        let isThere = true;
        for (let sent = 0; sent < 10_000 && isThere; sent += 100)
          isThere = (await Promise.all(hundred())).includes(true);
        flooded.resolve();
      },
    });
    const { evidence, eventsOfKind } = await probing(tool.url, {
      wants: id => id === 'TOOL-SUB',
      probeTimeoutMs: 2_000,
    });
    expect(evidence.calls).toHaveLength(1);
    expect(evidence.calls[0]?.callbacks.length).toBeLessThanOrEqual(LIMITS.checkedCallbacksOfCall.value);
    expect(eventsOfKind('warned').length).toBeLessThanOrEqual(1);
    await flooded.promise;
  });

  test('that never acknowledges: waits no longer than the window', async () => {
    await using tool = await startRawTool({ invoked: () => {} });
    const { evidence } = await probing(tool.url, { probeTimeoutMs: 150 });
    expect(evidence.calls.length).toBeGreaterThan(20);
    const codes = evidence.calls.map(({ attempts }) => attempts[0]?.broken?.code);
    expect(codes).toEqual(Array(evidence.calls.length).fill('ETIMEDOUT'));
  });

  test('TOOL-CANCEL, TOOL-CLOSE: waits for a notice as long as for everything else, and no longer', async () => {
    await using tool = await startRawTool({
      toolset: url => ({ name: 'raw', endpoint: `${url}/invoke`, tools: [operation('drop', {})] }),
      noticed: () => {},
    });
    const wants = (id: string) => id === 'TOOL-CANCEL' || id === 'TOOL-CLOSE';
    const { evidence } = await probing(tool.url, { probeTimeoutMs: 1_300, wants });
    for (const { request, broken } of [...evidence.cancels, ...evidence.closes]) {
      expect(broken?.code).toBe('ETIMEDOUT');
      expect((broken?.at ?? 0) - request.at).toBeGreaterThan(1_250);
    }
    const rows = checksOf('tool', [evidence]).filter(({ id }) => wants(id));
    expect(rows.map(({ reason }) => reason)).toEqual([
      expect.stringMatching(/^\/cancel_tool_call did not answer within 1\.\ds/),
      expect.stringMatching(/^\/close_thread did not answer within 1\.\ds/),
    ]);
  });

  test('TOOL-ACK: that sends a slow body has acknowledged with its headers; the log has the beginning of the body', async () => {
    await using tool = await startRawTool({
      invoked(_, response) {
        const drip = setInterval(() => response.write('more '), 20);
        response.on('close', () => clearInterval(drip));
      },
    });
    const { evidence } = await probing(tool.url, { probeTimeoutMs: 500, wants: id => id === 'TOOL-SUB' });
    const [{ response } = { response: null }] = evidence.calls[0]?.attempts ?? [];
    expect(response?.status).toBe(200);
    expect(Buffer.from(response?.body?.bytes ?? []).toString()).toMatch(/^(more )+$/);
  });

  test('TOOL-ASYNC: that answers in the acknowledgement is detected', async () => {
    await using tool = await startRawTool({
      invoked: (invocation, response) => void response.end(JSON.stringify(resultOf(invocation))),
    });
    const { evidence } = await probing(tool.url, { probeTimeoutMs: 500, wants: id => id === 'TOOL-ASYNC' });
    const [{ response } = { response: null }] = evidence.calls[0]?.attempts ?? [];
    expect(response?.body?.json).toMatchObject({ ok: true, value: { type: 'tool_result' } });
  });

  test('RT-VALIDATE: answers 400 to a body that is not a callback', async () => {
    await using tool = await startRawTool({
      invoked({ callback_url }, response) {
        response.end();
        void post(callback_url, { type: 'nonsense' });
      },
    });
    const { evidence } = await probing(tool.url, { probeTimeoutMs: 300, wants: id => id === 'TOOL-POST' });
    expect(evidence.calls.map(answersOf)).toEqual([[400]]);
  });

  test('TOOL-ACK: that acknowledges only after the response to its result is detected', async () => {
    await using tool = await startRawTool({
      async invoked(invocation, response) {
        await post(invocation['callback_url'], resultOf(invocation));
        response.end();
      },
    });
    const { evidence } = await probing(tool.url, { wants: id => id === 'TOOL-ACK' });
    const [{ attempts, callbacks } = { attempts: [], callbacks: [] }] = evidence.calls;
    const late = (attempts[0]?.response?.at ?? 0) - (callbacks[0]?.request.at ?? 0);
    expect(late).toBeGreaterThan(150);
  });

  test('TOOL-ACK: that is late once is called again alone, and judged by the second call', async () => {
    let times = 0;
    await using tool = await startRawTool({
      async invoked(invocation, response) {
        await runnableSleep(times++ === 0 ? 300 : 0);
        response.end(() => void post(invocation['callback_url'], resultOf(invocation)));
      },
    });
    const { evidence, callsOf } = await probing(tool.url, { wants: id => id === 'TOOL-ACK' });
    expect(callsOf('acknowledgement again').length).toBeGreaterThan(0);
    const row = checksOf('tool', [evidence]).find(({ id }) => id === 'TOOL-ACK');
    expect(row).toMatchObject({ status: 'pass', reason: expect.stringContaining('alone') });
  });

  test('TOOL-ACK: that needs consent is called again, without waiting for the consent', async () => {
    await using tool = await startRawTool({
      async invoked({ callback_url, ...ids }, response) {
        await runnableSleep(300);
        const oauth = { ...resultOf(ids), type: 'oauth', auth_url: 'https://auth.example/' };
        response.end(() => void post(callback_url, oauth));
      },
    });
    const { evidence, callsOf } = await probing(tool.url, {
      wants: id => id === 'TOOL-ACK',
      operations: ['op'],
      probeTimeoutMs: 600,
    });
    const again = callsOf('acknowledgement again');
    expect(again.map(({ expiries }) => expiries)).toEqual([[], [], []]);
    const always = checksOf('tool', [evidence]).find(({ id }) => id === 'TOOL-ALWAYS');
    expect(always).toMatchObject({ status: 'could-not-run', events: [] });
  });

  test('with many silent operations: waits for only a few of them', async () => {
    const tools = Array.from({ length: 40 }, (_, index) => operation(`op_${index}`));
    await using tool = await startRawTool({
      toolset: url => ({ name: 'raw', endpoint: `${url}/invoke`, tools }),
    });
    const options = { wants: (id: string) => id === 'TOOL-ALWAYS', probeTimeoutMs: 200 };
    const { callsOf, eventsOfKind } = await probing(tool.url, options);
    expect(callsOf('valid-call').length).toBeLessThan(20);
    expect(eventsOfKind('warned').map(({ message }) => message)).toEqual([
      '15 more operations were not called (limit: 25)',
      expect.stringMatching(/^\d+ more operations were not called: \d+ did not respond in time$/),
    ]);
  });

  test('threats, row 22: with a schema whose arguments multiply is not called, and the check continues', async () => {
    let items: object = { type: 'string' };
    for (let level = 0; level < 60; level++) items = { type: 'array', minItems: 100, items };
    const inputSchema = { type: 'object', properties: { a: items }, required: ['a'] };
    const nested = { ...operation('nested'), inputSchema };
    await using tool = await startRawTool({
      toolset: url => ({ name: 'raw', endpoint: `${url}/invoke`, tools: [nested, operation('op')] }),
      invoked(invocation, response) {
        response.end(() => void post(invocation['callback_url'], resultOf(invocation)));
      },
    });
    const { eventsOfKind, callsOf } = await probing(tool.url, { wants: id => id === 'TOOL-ALWAYS' });
    expect(callsOf('valid-call')).toHaveLength(1);
    expect(eventsOfKind('warned').map(({ message }) => message)).toEqual([
      'nested is not called: no valid arguments could be made from its inputSchema (it demands too many values); write a case',
    ]);
  });

  test('TOOL-OPAQUE: that changes a callback URL is identified by the token', async () => {
    await using tool = await startRawTool({
      invoked(invocation, response) {
        response.end();
        const url = new URL(String(invocation['callback_url']));
        const [, name, token = ''] = url.pathname.split('/');
        void post(`${url.origin}/${name}/${token.slice(0, 43)}`, resultOf(invocation));
      },
    });
    const { callsOf } = await probing(tool.url, { wants: id => id === 'TOOL-OPAQUE' });
    const urls = callsOf('callback-urls').map(({ callbacks }) => callbacks.map(({ request }) => request.url));
    expect(urls).toEqual(Array(6).fill([expect.stringMatching(/^\/callback\/[\w-]{43}$/)]));
  });
});

describe.concurrent('without a valid toolset', () => {
  test('records an invalid toolset and the plans, and calls nothing', async () => {
    await using tool = await startRawTool({
      toolset: url => ({ name: '', endpoint: `${url}/invoke`, tools: [operation('op')] }),
    });
    const { evidence } = await probing(tool.url);
    expect(evidence.discoveries.map(({ reading }) => reading?.ok)).toEqual([false]);
    expect(evidence.calls).toEqual([]);
    expect(tool.posts).not.toContain('/invoke');
    expect(tool.posts).toContain('/cancel_tool_call');
    expect(tool.posts).toContain('/close_thread');
    expect(evidence.plans.map(({ plan }) => plan)).toContain('malformed');
  });

  test('without discovery: throws and records an error', async () => {
    await using tool = await startServing(404);
    const events: Event[] = [];
    await expect(probingInto(events, tool.url, {})).rejects.toMatchObject({
      code: 'no-discovery',
      hint: expect.stringMatching(/base URL.*--endpoint --save run\.ndjson.*check run\.ndjson/),
    });
    expect(events.map(({ kind }) => kind)).toEqual(['planned', 'request', 'response']);
  });

  test('throws for an invalid name before any call', async () => {
    await using tool = await startRawTool({});
    await expect(probing(tool.url, { operations: ['opp'] })).rejects.toMatchObject({
      code: 'unknown-operation',
    });
    expect(tool.posts).toEqual([]);
  });

  test('sends only harmless requests if no operation may be called', async () => {
    const received: unknown[] = [];
    await using tool = await startRawTool({
      toolset: url => ({ name: 'raw', endpoint: `${url}/invoke`, tools: [operation('drop', {})] }),
      invoked(invocation, response) {
        response.end();
        received.push(invocation['operation']);
        void post(invocation['callback_url'], resultOf(invocation, { text: 'Error: no' }));
      },
    });
    const { eventsOfKind } = await probing(tool.url);
    expect(received).toContain('no_such_operation');
    expect(received).not.toContain('drop');
    expect(eventsOfKind('warned').map(({ message }) => message)).toEqual([
      expect.stringMatching(/^no operation is called/),
    ]);
  });
});

describe('abort', () => {
  test('stops at once', async () => {
    const abort = new AbortController();
    await using tool = await startRawTool({
      invoked(_, response) {
        response.end();
        abort.abort();
      },
    });
    const { eventsOfKind, evidence } = await probing(tool.url, {
      signal: abort.signal,
      probeTimeoutMs: 60_000,
    });
    expect(evidence.calls.length).toBeGreaterThan(0);
    expect(eventsOfKind('expired')).toEqual([]);
  });
});

test('does not run a probe that tests no selected requirement', async () => {
  await using tool = await startRawTool({});
  const { evidence } = await probing(tool.url, { wants: id => id === 'TOOL-DISCOVER' });
  expect(tool.posts).toEqual([]);
  expect(evidence.plans.map(({ plan }) => plan)).toEqual(['discovery']);
});

test('threats, row 15: one quota counts posts and bytes, and warns once when it is used up', () => {
  const warnings: string[] = [];
  const log = createLog(() => 0);
  log.subscribe(event => event.kind === 'warned' && warnings.push(event.message));
  const admits = quota(log, { callbacks: 3, bytes: 100 }, 'in all');
  expect([40, 40, 40, 1].map(admits)).toEqual([true, true, false, false]);
  expect(warnings).toEqual(['more than 3 callbacks, or 100 bytes, came in all; the rest is ignored']);
});

const REMOTE = { base: 'http://tool.example:3001', endpoint: 'http://api.example/invoke' };
const LOCAL = { base: 'http://127.0.0.1:3001', endpoint: 'http://127.0.0.1:3001/invoke' };
const MISLEADING = { ...REMOTE, endpoint: 'http://127.0.0.1:6379/' };

test.each([
  [REMOTE, 'http://tool.example:3001/choices/1', true],
  [REMOTE, 'http://api.example/choices/1', true],
  [LOCAL, 'http://localhost:4000/choices/1', true],
  [REMOTE, 'http://127.0.0.1:6379/', false],
  [REMOTE, 'http://tool.example:6379/', false],
  [MISLEADING, 'http://127.0.0.1:6379/', false],
  [LOCAL, 'http://192.0.2.1/', false],
  [LOCAL, 'nowhere', false],
])('threats, row 9: whether the answer of a tool at %j may go to %s: %s', (tool, url, isOwn) => {
  expect(isHostOfTool(url, tool.base, tool.endpoint)).toBe(isOwn);
});

import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { startServing } from '../support/serving.js';
import { type InvokeOptions, openRuntime, type Runtime } from './runtime.mjs';

let plain: Peer;
let odd: Peer;
let stdlib: Peer;
let runtime: Runtime;
beforeAll(async () => {
  [plain, odd, stdlib] = await Promise.all([startPeer('plain'), startPeer('odd'), startPeer('stdlib')]);
  runtime = await openRuntime({ secrets: ['hunter2'] });
});
afterAll(async () => {
  runtime.close();
  await Promise.all([plain.stop(), odd.stop(), stdlib.stop()]);
});

describe('a correct tool has no violations', () => {
  test('a result, with all ids and unknown fields', async () => {
    const options: InvokeOptions = {
      id: 'call-1',
      callId: 'model-1',
      groupId: 'thread-1',
      userId: 'user-1',
      ancestors: ['root'],
      callbackPath: '/own/%2F/?a=b&a=c',
      fields: { more: { than: 'known' } },
    };
    const call = await runtime.invoke(plain.url, 'edit_file', { path: 'a.txt' }, options);
    const { url, bytes, body } = await call.result();
    expect(url).toBe('/own/%2F/?a=b&a=c');
    expect(JSON.parse(bytes.toString())).toEqual(body);
    expect(call.ack).toMatchObject({ status: 200, body: '' });
    expect(call.verdict()).toEqual([]);
    const sent = (await plain.log()).findLast(({ what }) => what === 'invocation');
    expect(sent?.body).toEqual(call.invocation);
  });

  test('notices', async () => {
    const call = await runtime.invoke(stdlib.url, 'subscribe', { ms: 200 });
    await call.result();
    const { group_id, id } = call.invocation;
    await runtime.cancel(stdlib.url, group_id, id);
    await runtime.closeThread(stdlib.url, group_id);
    expect(runtime.verdict()).toEqual([]);
    expect(await runtime.migrate(stdlib.url, 'session', plain.url)).toMatchObject({ status: 404 });
    expect(runtime.faults).toMatchObject([{ id: 'TOOL-MIGRATE' }]);
  });
});

describe('responses to deliveries as configured', () => {
  test('5xx and a reset are retried, 4xx and 3xx are not', async () => {
    const call = await runtime.invoke(plain.url, 'echo', { text: 'a' }, { answers: [500, 'reset', 'half'] });
    await call.result();
    expect(call.callbacks.map(({ answered }) => answered)).toEqual([500, 'reset', 'half', 200]);
    expect(call.verdict()).toEqual([]);
    for (const status of [302, 400]) {
      const refused = await runtime.invoke(plain.url, 'echo', { text: 'a' }, { answers: [status] });
      expect(await refused.next()).toMatchObject({ status });
      expect(refused.verdict()).toEqual([]);
    }
  });

  test('a receiver that never responds, and one with Retry-After', async () => {
    const hanging = await runtime.invoke(plain.url, 'echo', { text: 'a' }, { answers: ['hang'] });
    expect(await hanging.next()).toMatchObject({ answered: 'hang', status: null });
    const busy = { status: 503, headers: { 'retry-after': '1' } };
    const call = await runtime.invoke(plain.url, 'echo', { text: 'a' }, { answers: () => busy });
    expect(await call.next()).toMatchObject({ status: 503 });
    await plain.seen('delivery', ({ status }) => status === 503);
  });
});

describe('an incorrect tool has violations', () => {
  const OTHERS_FREE = 'the others are not affected';
  test.each([
    ['before_ack', ['TOOL-ACK']],
    ['ack_201', ['TOOL-ACK']],
    ['ack_gzip', ['TOOL-ASYNC']],
    ['forged_id', ['TOOL-ID']],
    ['forged_group', ['TOOL-GROUP']],
    ['wrong_call_id', ['TOOL-CALLID']],
    ['wrong_type', ['TOOL-POST']],
    ['invalid_utf8', ['TOOL-POST']],
    ['missing_text', ['TOOL-POST']],
    ['text_first', ['TOOL-FALLBACK']],
    ['bad_diff_then_text', ['TOOL-DIFF']],
    ['delivered_twice', []],
    ['extra_fields', []],
    ['content_items', []],
  ])(`%s: %j; ${OTHERS_FREE}`, async (operation, ids) => {
    const call = await runtime.invoke(odd.url, operation, {});
    await call.next();
    expect(call.verdict().map(({ id }) => id)).toEqual(ids);
  });

  test('a second result', async () => {
    const call = await runtime.invoke(odd.url, 'two_results', {});
    await call.next();
    await call.next();
    expect(call.faults).toMatchObject([{ id: 'TOOL-ONCE' }]);
  });

  test('no result at all', async () => {
    const call = await runtime.invoke(odd.url, 'silent', {});
    expect(call.faults).toEqual([]);
    expect(call.verdict()).toMatchObject([{ id: 'TOOL-ALWAYS' }]);
    await expect(call.next(20)).rejects.toThrow('none within 20 ms; acknowledged 200, received nothing');
  });

  test('another callback URL', async () => {
    await using own = await openRuntime();
    await own.invoke(odd.url, 'misdirected', {});
    await odd.seen('delivery', ({ url, status }) => url.startsWith(own.url) && status === 404);
    expect(own.faults).toMatchObject([{ id: 'TOOL-OPAQUE' }]);
    expect(own.strays).toHaveLength(1);
  });

  test.each([
    ['event_after_final', 'after the last'],
    ['event_unasked', 'no one subscribed'],
  ])('%s', async (operation, text) => {
    const call = await runtime.invoke(odd.url, operation, {});
    await call.waitFor(({ body }) => body?.['text'] === text);
    expect(call.verdict()).toMatchObject([{ id: 'TOOL-SUB' }]);
  });

  test('events after a cancel', async () => {
    const call = await runtime.invoke(odd.url, 'deaf_events', {});
    await call.waitFor('subscription_event');
    await runtime.cancel(odd.url, call.invocation.group_id, call.invocation.id);
    await call.waitFor(({ body }) => body?.['text'] === 'Event 4');
    expect(call.faults).toContainEqual({ id: 'TOOL-SUB', why: expect.stringContaining('after the cancel') });
  });

  test('a secret', async () => {
    const headers = { authorization: 'Bearer canary-7' };
    for (const text of ['canary-7', 'hunter2']) {
      const call = await runtime.invoke(plain.url, 'echo', { text }, { headers });
      await call.result();
      expect(call.faults).toMatchObject([{ id: 'TOOL-SECRET' }]);
    }
  });

  test('no acknowledgement', async () => {
    const call = await runtime.invoke(odd.url, 'ack_hang', {}, { ackWithinMs: 50 });
    expect(call.ack).toMatchObject({
      status: null,
      error: expect.stringContaining('no answer within 50 ms'),
    });
  });
});

describe('consent as given in a browser', () => {
  const page = `<form method="post" action="/done?x=1&amp;y"><input type="hidden" name="state" value="s&quot;1">
    <button name="decision" value="granted">Allow</button><button name="decision" value="refused">Do not allow</button>`;
  const answering = (headers: Record<string, string>) =>
    startServing((response, { method }) => {
      response.writeHead(200, { 'content-type': 'text/html', ...headers });
      response.end(method === 'GET' ? `${page}</form>` : 'thanks');
    });

  test.each([
    ['grant', 'granted'],
    ['refuse', 'refused'],
  ] as const)('%s', async (decision, value) => {
    await using server = await answering({ 'content-security-policy': "form-action 'self'" });
    const { answer } = await runtime.visitConsent(`${server.url}consent`, decision);
    expect(answer).toMatchObject({ status: 200, body: 'thanks' });
    const [shown, pressed] = server.requests;
    expect(shown?.headers).toMatchObject({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' });
    expect(shown?.headers).not.toHaveProperty('origin');
    expect(pressed).toMatchObject({ url: '/done?x=1&y', body: `state=s%221&decision=${value}` });
    expect(pressed?.headers).toMatchObject({
      origin: server.url.slice(0, -1),
      'sec-fetch-site': 'same-origin',
    });
  });

  test('a page that sends no referrer posts with Origin: null', async () => {
    await using server = await answering({ 'referrer-policy': 'no-referrer' });
    await runtime.visitConsent(server.url, 'grant');
    expect(server.requests[1]?.headers).toMatchObject({ origin: 'null' });
  });

  test('a page that blocks its own form does not work', async () => {
    await using server = await answering({
      'content-security-policy': "default-src 'none'; form-action 'none'",
    });
    await expect(runtime.visitConsent(server.url, 'grant')).rejects.toThrow('forbids its own form');
  });
});

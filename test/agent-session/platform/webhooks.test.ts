import { createHmac } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import { startSessionPlatform } from '../../../src/agent-session/platform/platform.js';
import type { Event } from '../../../src/events/events.js';
import { LIMITS } from '../../../src/util/limits.js';
import { eventually } from '../../e2e/support/eventually.js';
import { closedPort } from '../../e2e/support/sockets.js';
import { errorOf } from '../../support/failing.js';
import { fakeClock } from '../../support/fake-clock.js';
import { type Received, type Serving, startServing } from '../../support/serving.js';
import { script, toolResult } from './build.js';
import { type Ask, platformWith } from './client.js';

const ONE = script({
  rounds: [{ calls: [{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }] }],
});
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/;

interface Created {
  readonly id: string;
  readonly secret: string;
}

async function create(api: Ask, url: string, more: object = {}): Promise<Created> {
  const { status, body } = await api('POST', '/webhooks', { url, ...more });
  expect(status).toBe(201);
  return body as Created;
}

const read = async (api: Ask, { id }: Created) => (await api('GET', `/webhooks/${id}`)).body;

const messageIn = ({ body }: Received) =>
  JSON.parse(body) as { readonly type: string; readonly data: Readonly<Record<string, unknown>> };

/** The type of each delivery, with the statuses in it. */
const typesIn = ({ requests }: Serving) =>
  requests
    .map(messageIn)
    .map(({ type, data }) => [type, data['previous_status'], data['status']].filter(Boolean).join(' '));

/** Whether the signature in a delivery is that of its bytes. */
function isSignedWith(secret: string, { headers, body }: Received): boolean {
  const hmac = createHmac('sha256', secret).update(`${headers['x-h-webhook-timestamp']}.${body}`);
  return headers['x-h-webhook-signature'] === `sha256=${hmac.digest('hex')}`;
}

async function newSession(ask: Ask): Promise<string> {
  return ((await ask('POST', '', { agent: 'a' })).body as { id: string }).id;
}

describe('the API of webhooks', () => {
  test('only creation and rotation show the secret', async () => {
    await using it = await platformWith();
    const url = `${it.platform.url}/receiver`;
    const webhook = await create(it.api, url, { description: 'mine' });
    const record = {
      ...{
        id: expect.stringMatching(UUID),
        url,
        enabled_events: ['*'],
        description: 'mine',
        disabled: false,
      },
      ...{ last_delivery_status: null, last_delivery_error: null, last_delivery_at: null },
      ...{ last_success_at: null, consecutive_failures: 0 },
      ...{ created_at: expect.any(String), updated_at: expect.any(String) },
    };
    expect(webhook).toEqual({ ...record, secret: expect.stringMatching(/^whsec_[\w-]{43}$/) });
    expect(await read(it.api, webhook)).toEqual(record);
    expect((await it.api('GET', '/webhooks')).body).toEqual({ items: [record], page: 1, total: 1 });
    const { status, body } = await it.api('POST', `/webhooks/${webhook.id}/rotate`);
    expect([status, body]).toEqual([200, { ...record, secret: expect.stringMatching(/^whsec_/) }]);
    expect((body as Created).secret).not.toBe(webhook.secret);
  });

  test('a page has 10 by default, newest first', async () => {
    await using it = await platformWith();
    for (let count = 0; count < 11; count++)
      await create(it.api, it.platform.url, { description: `${count}` });
    const namesIn = async (query: string) =>
      ((await it.api('GET', `/webhooks${query}`)).body as { items: { description: string }[] }).items.map(
        ({ description }) => description,
      );
    expect(await namesIn('')).toEqual(['10', '9', '8', '7', '6', '5', '4', '3', '2', '1']);
    expect(await namesIn('?sort=created_at&size=2&page=2')).toEqual(['2', '3']);
    expect(await it.api('GET', '/webhooks?size=1001')).toMatchObject({ status: 422 });
    expect(await it.api('GET', '/webhooks?sort=url')).toMatchObject({ status: 422 });
  });

  test('the types of events are listed', async () => {
    await using it = await platformWith();
    const { status, body } = await it.api('GET', '/webhooks/events');
    expect([status, (body as { type: string }[]).map(({ type }) => type)]).toEqual([
      200,
      [
        ...['session.status_updated', 'session.awaiting_tool_results', 'session.idle'],
        ...['session.completed', 'session.failed', 'session.timed_out'],
      ],
    ]);
  });

  test('a change keeps members that are absent or null', async () => {
    await using it = await platformWith();
    const webhook = await create(it.api, it.platform.url, { description: 'mine' });
    const change = (body: object) => it.api('PATCH', `/webhooks/${webhook.id}`, body);
    const other = `${it.platform.url}/other`;
    expect(await change({ url: other, enabled_events: ['session.idle'], disabled: true })).toMatchObject({
      status: 200,
      body: { url: other, enabled_events: ['session.idle'], disabled: true, description: 'mine' },
    });
    expect(
      await change({ url: null, enabled_events: null, disabled: null, description: null }),
    ).toMatchObject({
      body: { url: other, enabled_events: ['session.idle'], disabled: true, description: null },
    });
  });

  test('without such a webhook every path is 404', async () => {
    await using it = await platformWith();
    const webhook = await create(it.api, it.platform.url);
    expect(await it.api('DELETE', `/webhooks/${webhook.id}`)).toEqual({
      status: 204,
      text: '',
      body: undefined,
    });
    for (const [method, path] of [
      ...[['GET', ''] as const, ['DELETE', ''] as const, ['POST', '/ping'] as const],
      ...[['POST', '/rotate'] as const, ['PATCH', ''] as const],
    ])
      expect(
        await it.api(method, `/webhooks/${webhook.id}${path}`, method === 'PATCH' ? {} : undefined),
      ).toMatchObject({ status: 404, body: { detail: 'Webhook not found.' } });
  });

  test.each<[string, unknown, string]>([
    ['no URL', {}, 'url'],
    ['an empty URL', { url: '' }, 'url'],
    ['no URL but a text', { url: 'receiver' }, 'url'],
    ['a long URL', { url: `http://127.0.0.1/${'x'.repeat(2_048)}` }, 'url'],
    ['another scheme', { url: 'file:///etc/passwd' }, 'url'],
    ['row 9: a metadata address', { url: 'http://169.254.169.254/latest' }, 'url'],
    ['row 9: another machine', { url: 'https://receiver.example/' }, 'url'],
    ['row 9: a password', { url: 'http://a:b@127.0.0.1/' }, 'url'],
    ['events that are no list', { url: 'http://127.0.0.1/', enabled_events: '*' }, 'enabled_events'],
    ['a long description', { url: 'http://127.0.0.1/', description: 'x'.repeat(256) }, 'description'],
  ])('%s is refused with 422', async (_, body, member) => {
    await using it = await platformWith();
    expect(await it.api('POST', '/webhooks', body)).toMatchObject({
      status: 422,
      body: { detail: [{ loc: ['body', member] }] },
    });
    const webhook = await create(it.api, it.platform.url);
    if (member in (body as object))
      expect(await it.api('PATCH', `/webhooks/${webhook.id}`, body)).toMatchObject({ status: 422 });
    expect((await it.api('GET', '/webhooks')).body).toMatchObject({ total: 1 });
  });

  test('another origin is allowed by name', async () => {
    await using it = await platformWith({ allowWebhooks: ['https://receiver.example'] });
    await create(it.api, 'https://receiver.example/hook');
    const refused = await it.api('POST', '/webhooks', { url: 'https://other.example/hook' });
    expect(refused.text).toContain('Allow it with --allow-webhook https://other.example');
    const error = await errorOf(() => startSessionPlatform({ allowWebhooks: ['receiver'] }));
    expect(error).toMatchObject({ code: 'usage', message: expect.stringContaining('webhooks') });
  });

  test('an event that the mock does not send is a warning', async () => {
    await using it = await platformWith();
    await create(it.api, it.platform.url, { enabled_events: ['*', 'session.started'] });
    expect(warningsOf(it.platform.events)).toEqual([
      'a webhook asks for events that this mock does not send: session.started',
    ]);
  });
});

describe('deliveries', () => {
  test('each change of a status is delivered once, in order, and signed', async () => {
    await using receiver = await startServing(204);
    await using it = await platformWith({ script: ONE });
    const enabled_events = ['*', 'session.awaiting_tool_results', 'session.completed'];
    const { secret } = await create(it.api, receiver.url, { enabled_events });
    const session = await newSession(it.ask);
    await it.ask('POST', `/${session}/pause`);
    await it.ask('POST', `/${session}/resume`);
    await it.ask('POST', `/${session}/tool_results`, toolResult('call_1'));
    await eventually(
      'the end is delivered',
      () => typesIn(receiver).at(-1) === 'session.completed running completed',
    );
    expect(typesIn(receiver)).toEqual([
      'session.status_updated pending running',
      'session.status_updated running awaiting_tool_results',
      'session.awaiting_tool_results running awaiting_tool_results',
      'session.status_updated awaiting_tool_results paused',
      'session.status_updated paused awaiting_tool_results',
      'session.awaiting_tool_results paused awaiting_tool_results',
      'session.status_updated awaiting_tool_results running',
      'session.status_updated running completed',
      'session.completed running completed',
    ]);
    for (const request of receiver.requests) {
      expect(isSignedWith(secret, request)).toBe(true);
      expect(request).toMatchObject({ method: 'POST', headers: { 'content-type': 'application/json' } });
      expect(messageIn(request)).toEqual({
        type: expect.any(String),
        id: expect.stringMatching(UUID),
        created_at: expect.any(String),
        data: { session_id: session, status: expect.any(String), previous_status: expect.any(String) },
      });
    }
    expect(new Set(receiver.requests.map(({ body }) => JSON.parse(body).id)).size).toBe(9);
  });

  test.each([
    ['failed', 'session.failed'],
    ['timed_out', 'session.timed_out'],
    ['idle', 'session.idle'],
    ['interrupted', undefined],
  ])('a session that ends %s: %s, only where it is asked for', async (end, type) => {
    await using named = await startServing(200);
    await using any = await startServing(200);
    await using other = await startServing(200);
    await using it = await platformWith({ script: script({ rounds: [], end }) });
    await create(it.api, named.url, { enabled_events: [type ?? 'session.interrupted'] });
    await create(it.api, any.url);
    await create(it.api, other.url, { enabled_events: ['session.completed'] });
    await newSession(it.ask);
    await eventually(
      'the end is delivered',
      () => typesIn(any).at(-1) === `session.status_updated running ${end}`,
    );
    const pings = (await it.api('GET', '/webhooks')).body as { items: Created[] };
    for (const { id } of pings.items) await it.api('POST', `/webhooks/${id}/ping`);
    expect(typesIn(named)).toEqual([...(type ? [`${type} running ${end}`] : []), 'ping']);
    expect(typesIn(other)).toEqual(['ping']);
    expect(typesIn(any)).toHaveLength(3);
  });

  test('a ping returns the status of the receiver; without an answer it is 422', async () => {
    await using receiver = await startServing(418);
    await using it = await platformWith();
    const ping = async (url: string) => {
      const webhook = await create(it.api, url);
      const { status, body } = await it.api('POST', `/webhooks/${webhook.id}/ping`);
      return [status, body, await read(it.api, webhook)];
    };
    expect(await ping(receiver.url)).toEqual([
      200,
      { response_status: 418 },
      expect.objectContaining({ last_delivery_error: 'the endpoint answered 418', consecutive_failures: 1 }),
    ]);
    expect(messageIn(receiver.requests[0] as Received)).toMatchObject({ type: 'ping', data: {} });
    expect(await ping(`http://127.0.0.1:${await closedPort()}/`)).toEqual([
      422,
      { detail: [expect.objectContaining({ type: 'webhook_unreachable' })] },
      expect.objectContaining({ last_delivery_status: 'failed', last_success_at: null }),
    ]);
  });

  test('after a rotation the new secret signs', async () => {
    await using receiver = await startServing(200);
    await using it = await platformWith();
    const webhook = await create(it.api, receiver.url);
    await it.api('POST', `/webhooks/${webhook.id}/ping`);
    const { secret } = (await it.api('POST', `/webhooks/${webhook.id}/rotate`)).body as Created;
    await it.api('POST', `/webhooks/${webhook.id}/ping`);
    const signedWith = (key: string) => receiver.requests.map(request => isSignedWith(key, request));
    expect([signedWith(webhook.secret), signedWith(secret)]).toEqual([
      [true, false],
      [false, true],
    ]);
    expect(await read(it.api, webhook)).toMatchObject({ last_delivery_status: 'succeeded' });
  });

  test('one that fails is not repeated, and redirects are not followed', async () => {
    await using receiver = await startServing(503, 'reset', 302, 200);
    await using it = await platformWith({ script: script({ rounds: [] }) });
    await create(it.api, receiver.url);
    await newSession(it.ask);
    await newSession(it.ask);
    await eventually('four arrived', () => receiver.requests.length === 4);
    expect(typesIn(receiver)).toEqual([
      'session.status_updated pending running',
      'session.status_updated running completed',
      'session.status_updated pending running',
      'session.status_updated running completed',
    ]);
    expect(receiver.requests.every(({ url }) => url === '/')).toBe(true);
  });

  test('a webhook that is disabled, or whose deliveries failed ten times in a row, gets no more', async () => {
    const replies = Array(LIMITS.webhookFailures.value).fill(500);
    await using receiver = await startServing(...replies, 200);
    await using it = await platformWith({ script: script({ rounds: [] }) });
    const webhook = await create(it.api, receiver.url);
    const ping = () => it.api('POST', `/webhooks/${webhook.id}/ping`);
    for (const _ of replies) await ping();
    const disabled = { disabled: true, consecutive_failures: replies.length };
    expect(await read(it.api, webhook)).toMatchObject(disabled);
    expect(warningsOf(it.platform.events).at(-1)).toMatch(/ was disabled: 10 deliveries in a row failed$/);
    await newSession(it.ask);
    expect(await it.api('PATCH', `/webhooks/${webhook.id}`, { disabled: false })).toMatchObject({
      body: { disabled: false, consecutive_failures: 0 },
    });
    await ping();
    expect(typesIn(receiver)).toEqual([...replies, 200].map(() => 'ping'));
    expect(await read(it.api, webhook)).toMatchObject({ last_delivery_status: 'succeeded' });
  });

  test('an endpoint that does not answer in time has failed; very many that wait are dropped', async () => {
    const clock = fakeClock();
    await using receiver = await startServing(() => {}, 200);
    await using it = await platformWith({ script: script({ rounds: [] }), clock });
    const webhook = await create(it.api, receiver.url);
    const pinging = it.api('POST', `/webhooks/${webhook.id}/ping`);
    await eventually('it arrived', () => receiver.requests.length === 1);
    const { value: most } = LIMITS.webhookDeliveries;
    for (let count = 1; count < most + 3; count += 2) await newSession(it.ask); // with two events each
    const drops = it.platform.events.filter(({ kind }) => kind === 'dropped');
    expect(drops).toMatchObject([{ what: 'event', why: 'too many deliveries wait' }]);
    clock.advance(LIMITS.webhookMs.value);
    expect(await pinging).toMatchObject({ status: 422 });
    await eventually('the others were sent', () => receiver.requests.length === most);
  });

  test.each(['PATCH', 'DELETE'])('after %s, what waits for the webhook is not sent', async method => {
    const clock = fakeClock();
    await using receiver = await startServing(() => {}, 200);
    await using it = await platformWith({ script: script({ rounds: [] }), clock });
    const webhook = await create(it.api, receiver.url);
    const other = await create(it.api, receiver.url, { enabled_events: [] });
    await newSession(it.ask);
    await eventually('the first arrived', () => receiver.requests.length === 1);
    const change = method === 'PATCH' ? { disabled: true } : undefined;
    await it.api(method, `/webhooks/${webhook.id}`, change);
    const pinging = change && it.api('POST', `/webhooks/${webhook.id}/ping`);
    await eventually('it waits', () => clock.pending() > 0);
    clock.advance(LIMITS.webhookMs.value);
    if (pinging) expect(await pinging).toMatchObject({ status: 200 });
    await it.api('POST', `/webhooks/${other.id}/ping`);
    const pings = pinging ? ['ping', 'ping'] : ['ping'];
    expect(typesIn(receiver)).toEqual(['session.status_updated pending running', ...pings]);
  });

  test('the end of the platform ends what is being sent', async () => {
    await using receiver = await startServing(() => {});
    await using it = await platformWith();
    const webhook = await create(it.api, receiver.url);
    const pinging = it.api('POST', `/webhooks/${webhook.id}/ping`);
    await eventually('it arrived', () => receiver.requests.length === 1);
    await it.platform.close();
    expect(await pinging).toMatchObject({ status: 422 });
  });
});

test('row 25: secrets, and tokens in URLs, are named once, and signatures are not in the log', async () => {
  await using receiver = await startServing(200);
  const secrets: string[] = [];
  await using it = await platformWith({ onSecret: secret => secrets.push(secret) });
  const webhook = await create(it.api, `${receiver.url}callback/a-token-of-more-than-16`);
  await it.api('POST', `/webhooks/${webhook.id}/ping`);
  const { secret } = (await it.api('POST', `/webhooks/${webhook.id}/rotate`)).body as Created;
  expect(secrets).toEqual(['a-token-of-more-than-16', webhook.secret, secret]);
  const delivery = it.platform.events.find(event => event.kind === 'request' && event.purpose === 'webhook');
  expect(delivery).toMatchObject({
    ...{ from: 'platform', to: 'client', dialect: 'session', method: 'POST' },
    headers: { 'X-H-Webhook-Signature': '[redacted]' },
  });
});

function warningsOf(events: readonly Event[]): string[] {
  return events.flatMap(event => (event.kind === 'warned' ? [event.message] : []));
}

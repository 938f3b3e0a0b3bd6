import { once } from 'node:events';
import { createServer } from 'node:http';
import { afterEach, describe, expect, test } from 'vitest';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import { createLog } from '../../src/events/log.js';
import type { HttpClient } from '../../src/http/client.js';
import { TransportError } from '../../src/http/transport-error.js';
import { systemClock } from '../../src/system/clock.js';
import { ask } from '../e2e/support/http.js';
import { closedPort } from '../e2e/support/sockets.js';
import { type Reply, type Serving, startServing } from '../support/serving.js';
import { type Recording, startRecording } from './recording.js';

const open: AsyncDisposable[] = [];

afterEach(async () => {
  for (const each of open.splice(0).reverse()) await each[Symbol.asyncDispose]();
});

const keep = <T extends AsyncDisposable>(thing: T): T => {
  open.push(thing);
  return thing;
};

/** A tool that gives its toolset, and then these replies; and a recorder before it. */
async function between(...replies: Reply[]): Promise<{ tool: Serving; recording: Recording }> {
  const tool = keep(await startServing(toolsetAt('/invoke'), ...replies));
  const recording = keep(await startRecording(tool.url));
  await recording.findTool();
  return { tool, recording };
}

const toolsetAt =
  (path: string): Reply =>
  (response, { headers }) =>
    void response.end(JSON.stringify({ name: 't', endpoint: new URL(path, `http://${headers.host}`).href }));

const invocation = (callback_url: string) =>
  JSON.stringify({ operation: 'o', arguments: {}, id: 'c', group_id: 't', callback_url });

const LOST = 'http://127.0.0.1:9/lost';

const invoke = (recording: Recording, callbackUrl = LOST) =>
  ask(`${recording.url}/invoke`, { body: invocation(callbackUrl) });

describe('a tool', () => {
  test('that is down causes a 502 with a reason; the log shows a broken connection', async () => {
    const recording = keep(await startRecording(`http://127.0.0.1:${await closedPort()}`));
    expect(await recording.findTool()).toBe(false);
    expect(await invoke(recording)).toMatchObject({
      status: 502,
      body: 'The recorder got no answer from the tool: ECONNREFUSED.\n',
    });
    expect(recording.roundTrips('runtime-side')).toEqual(['runtime invocation 502']);
    expect(recording.roundTrips('tool-side')).toEqual(Array(2).fill('runtime discovery ECONNREFUSED'));
  });

  test('that starts later is found by the first request', async () => {
    const port = await closedPort();
    const recording = keep(await startRecording(`http://127.0.0.1:${port}`));
    expect(await recording.findTool()).toBe(false);
    const tool = createServer((request, response) => {
      const { headers, method } = request;
      response.end(method === 'GET' ? `{"endpoint":"http://${headers.host}/invoke"}` : 'up');
    }).listen(port, '127.0.0.1');
    await once(tool, 'listening');
    expect(await invoke(recording)).toMatchObject({ status: 200, body: 'up' });
    tool.close().closeAllConnections();
  });

  test.each([500, 503, 404, 301])(
    'that answers %i: the response is passed on unchanged, after one request',
    async status => {
      const { tool, recording } = await between(status);
      const answer = await invoke(recording);
      expect(answer).toMatchObject({ status, body: `status ${status}`, headers: { location: '/elsewhere' } });
      expect(tool.requests).toHaveLength(2);
      expect(recording.roundTrips('tool-side').at(-1)).toBe(`runtime invocation ${status}`);
    },
  );

  test.each([301, 302, 307, 308])('row 11: whose discovery is a %i is not followed', async status => {
    const tool = keep(await startServing(status));
    const recording = keep(await startRecording(tool.url));
    const answer = await ask(`${recording.url}/.well-known/rap-toolset`, { method: 'GET' });
    expect(answer).toMatchObject({ status, headers: { location: '/elsewhere' } });
    expect(tool.requests.map(({ url }) => url)).toEqual(['/.well-known/rap-toolset']);
  });

  test('that resets the connection resets ours', async () => {
    const { recording } = await between('reset');
    await expect(invoke(recording)).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(recording.roundTrips('runtime-side')).toEqual(['runtime invocation ECONNRESET']);
    expect(recording.roundTrips('tool-side').at(-1)).toBe('runtime invocation ECONNRESET');
  });

  test('without an endpoint in its document causes a 502', async () => {
    const tool = keep(await startServing(response => void response.end('{"name":"t"}')));
    const recording = keep(await startRecording(tool.url));
    const document = await ask(`${recording.url}/.well-known/rap-toolset`, { method: 'GET' });
    expect(document.body).toBe('{"name":"t"}');
    expect(await invoke(recording)).toMatchObject({
      status: 502,
      body: "The tool's discovery document names no endpoint.\n",
    });
  });

  test('row 9: with a metadata address as endpoint is not called there', async () => {
    const tool = keep(
      await startServing(response => void response.end('{"endpoint":"http://169.254.169.254/"}')),
    );
    const recording = keep(await startRecording(tool.url));
    expect(await invoke(recording)).toMatchObject({
      status: 502,
      body: 'The recorder got no answer from the tool: REFUSED_ADDRESS.\n',
    });
  });

  test('row 12: at another origin than given does not receive credentials, with a warning', async () => {
    const elsewhere = keep(await startServing(200));
    const tool = keep(await startServing(response => void response.end(`{"endpoint":"${elsewhere.url}"}`)));
    const recording = keep(await startRecording(tool.url));
    const headers = { authorization: 'Bearer canary', 'x-api-key': 'canary' };
    await ask(`${recording.url}/.well-known/rap-toolset`, { method: 'GET', headers });
    await ask(`${recording.url}/invoke`, { body: invocation(LOST), headers });
    expect(tool.requests[0]?.headers).toMatchObject(headers);
    expect(JSON.stringify(elsewhere.requests)).not.toContain('canary');
    expect(recording.warnings).toEqual([
      "withheld from another origin than the tool's: authorization, x-api-key",
    ]);
  });
});

const REMOTE = 'http://tool.example:3001';

const LOCAL = 'http://127.0.0.1:3001';

describe('row 9: the address of a question', () => {
  const isOurs = async (url: string, endpoint: string, response_url: string) => {
    const sent: Record<string, string>[] = [];
    const client: HttpClient = {
      async send({ method, body }) {
        if (method === 'POST') sent.push(JSON.parse(String(body && Buffer.from(body))));
        return { status: 200, headers: {}, body: Buffer.from(JSON.stringify({ endpoint })) };
      },
      close: async () => {},
    };
    const recording = keep(await startRecording(url, {}, undefined, client));
    await invoke(recording);
    await ask(sent[0]?.['callback_url'] ?? '', {
      body: JSON.stringify({ type: 'user_choice', response_url }),
    });
    const onward = sent[1]?.['response_url'] ?? '';
    expect([response_url, `${recording.url}/choices/`]).toContain(onward.replace(/[\w-]{43}$/, ''));
    return onward !== response_url;
  };

  test.each([
    [REMOTE, `${REMOTE}/invoke`, `${REMOTE}/choices/1`, 'ours'],
    [REMOTE, 'https://api.example/invoke', 'https://api.example/choices/1', 'ours'],
    [LOCAL, `${LOCAL}/invoke`, 'http://127.0.0.1:4000/choices/1', 'ours'],
    [LOCAL, `${LOCAL}/invoke`, 'http://localhost:4000/choices/1', 'ours'],
    ['http://localhost:3001', `${LOCAL}/invoke`, 'http://[::1]:4000/choices/1', 'ours'],
    [REMOTE, `${REMOTE}/invoke`, 'http://127.0.0.1:6379/', 'unchanged'],
    [REMOTE, `${REMOTE}/invoke`, 'http://localhost:6379/', 'unchanged'],
    [REMOTE, 'http://127.0.0.1:6379/invoke', 'http://127.0.0.1:6379/', 'unchanged'],
    [REMOTE, `${REMOTE}/invoke`, 'http://tool.example:6379/', 'unchanged'],
    [LOCAL, `${LOCAL}/invoke`, 'http://169.254.169.254/', 'unchanged'],
    [LOCAL, `${LOCAL}/invoke`, 'nowhere', 'unchanged'],
  ])('of %s with the endpoint %s: %s is %s', async (url, endpoint, there, expected) => {
    expect(await isOurs(url, endpoint, there)).toBe(expected === 'ours');
  });
});

describe('a runtime', () => {
  /** What a tool hears that delivers a callback, while the runtime does this. */
  const deliver = async (...replies: Reply[]) => {
    const runtime = keep(await startServing(...replies));
    const { tool, recording } = await between(200);
    await invoke(recording, `${runtime.url}own?token=%2F`);
    const { callback_url } = JSON.parse(tool.requests[1]?.body ?? '');
    return { runtime, recording, answer: ask(callback_url, { body: '{"type":"odd"}' }) };
  };

  test.each([500, 404, 301])('that answers %i: the tool receives it', async status => {
    const { runtime, recording, answer } = await deliver(status);
    expect(await answer).toMatchObject({ status, body: `status ${status}` });
    expect(runtime.requests).toMatchObject([{ url: '/own?token=%2F', body: '{"type":"odd"}' }]);
    expect(recording.roundTrips('runtime-side').at(-1)).toBe(`tool callback ${status}`);
  });

  test("that resets the connection resets the tool's", async () => {
    const { recording, answer } = await deliver('reset');
    await expect(answer).rejects.toMatchObject({ code: 'ECONNRESET' });
    expect(recording.roundTrips('tool-side').at(-1)).toBe('tool callback ECONNRESET');
  });

  test('that is gone causes a 502, so that the tool retries', async () => {
    const { tool, recording } = await between(200);
    await invoke(recording, `http://127.0.0.1:${await closedPort()}/`);
    const { callback_url } = JSON.parse(tool.requests[1]?.body ?? '');
    expect(await ask(callback_url, { body: '{}' })).toMatchObject({
      status: 502,
      body: 'The recorder got no answer from the runtime: ECONNREFUSED.\n',
    });
  });
});

describe('shutdown', () => {
  test('waits for messages in flight', async () => {
    let answer = () => {};
    const { tool, recording } = await between(response => {
      answer = () => void response.end('late');
    });
    const asked = invoke(recording);
    await expect.poll(() => tool.requests.length).toBe(2);
    const closed = recording.close();
    answer();
    expect(await asked).toMatchObject({ status: 200, body: 'late' });
    await closed;
  });

  test('aborts what takes longer, and notifies both sides', async () => {
    const { tool, recording } = await between(() => {});
    const asked = invoke(recording).catch(({ code }) => code);
    await expect.poll(() => tool.requests.length).toBe(2);
    await recording.close();
    expect(await asked).toBe('ECONNRESET');
    expect(recording.roundTrips('runtime-side')).toEqual(['runtime invocation ECONNRESET']);
    expect(recording.roundTrips('tool-side').at(-1)).toBe('runtime invocation ABORTED');
  });
});

test('a toolset request that is open at the end is canceled', async () => {
  const tool = keep(await startServing(() => {}));
  const recording = keep(await startRecording(tool.url));
  const found = recording.findTool();
  await expect.poll(() => tool.requests.length).toBe(1);
  await recording.close();
  expect(await found).toBe(false);
  expect(recording.roundTrips('tool-side')).toEqual(['runtime discovery ABORTED']);
  const evidence = await gatherEvidence({ events: recording.events, observer: 'recorder' }, 'tool');
  const [check] = checksOf('tool', [evidence], { only: new Set(['TOOL-DISCOVER']) });
  expect(check?.reason).toBe('the request for the toolset was canceled before an answer came');
});

test('RT-SERIAL: a message waits for the response to the previous one in its thread, but only briefly', async () => {
  const { tool, recording } = await between(() => {}, 200);
  const silent = invoke(recording).catch(({ code }) => code);
  await expect.poll(() => tool.requests.length).toBe(2);
  expect(await invoke(recording)).toMatchObject({ status: 200 });
  await recording.close();
  expect(await silent).toBe('ECONNRESET');
});

describe('a message that cannot be logged', () => {
  test('is answered with 503 and not passed on', async () => {
    const tool = keep(await startServing(toolsetAt('/invoke'), 200));
    const log = createLog(() => systemClock.now());
    const recording = keep(await startRecording(tool.url, {}, log));
    await recording.findTool();
    log.storeEventsIn({ take: () => {}, stored: () => Promise.reject(new Error('full')) });
    expect(await invoke(recording)).toMatchObject({
      status: 503,
      body: 'The recorder could not write its transcript.\n',
    });
    expect(tool.requests).toHaveLength(1);
    expect(recording.roundTrips('tool-side').at(-1)).toBe('runtime invocation UNWRITABLE');
  });
});

describe('an internal error', () => {
  test('causes a 500, and the next message is served', async () => {
    const tool = keep(await startServing(toolsetAt('/invoke'), 200));
    let count = 0;
    const send = async () => {
      count += 1;
      throw count === 1 ? new Error('a fault') : new TransportError('connect', 'ECONNREFUSED', 'down');
    };
    const recording = keep(await startRecording(tool.url, {}, undefined, { send, close: async () => {} }));
    expect([(await invoke(recording)).status, (await invoke(recording)).status]).toEqual([500, 502]);
  });
});

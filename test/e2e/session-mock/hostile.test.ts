import { describe, expect, it } from 'vitest';
import { ask } from '../support/http.js';
import { startScript, startSessionMockHere } from '../support/session-mock.js';
import { batch, success } from '../support/session-wire.js';
import { unsafeIn } from '../support/text.js';

/** Anyone who is not meant to reach the platform does not, and what is posted does no harm. */
const call = (id: string, args: object = {}) => ({ tool_name: 'lookup_order', args, id });

describe.concurrent('rows 2, 3: every route', () => {
  it.each([
    ['GET', ''],
    ['POST', ''],
    ['GET', '/ID/changes'],
    ['POST', '/ID/tool_results'],
    ['DELETE', '/ID'],
  ])('%s %s refuses a foreign Host and a web page, key or not', async (method, path) => {
    await using mock = await startSessionMockHere();
    const url = `${mock.url}/api/v2/sessions${path.replace('ID', mock.session)}`;
    const status = async (headers: Record<string, string>) => {
      const sent = { authorization: `Bearer ${mock.key}`, ...headers };
      return (await ask(url, { method, headers: sent, ...(method === 'POST' && { body: '{}' }) })).status;
    };
    expect(await status({ host: 'evil.example' })).toBe(403);
    expect(await status({ origin: 'https://evil.example' })).toBe(403);
    expect(await status({ origin: 'null' })).toBe(403);
    expect(await status({ 'sec-fetch-site': 'cross-site' })).toBe(403);
    expect(await status({ host: `localhost:${mock.port}` })).not.toBe(403);
  });

  it('--allow-host accepts a name', async () => {
    await using mock = await startSessionMockHere(['--allow-host', 'platform']);
    const headers = { host: `platform:${mock.port}`, authorization: `Bearer ${mock.key}` };
    expect((await ask(`${mock.url}/api/v2/sessions`, { method: 'GET', headers })).status).toBe(200);
  });
});

describe.concurrent('posted data', () => {
  it('row 19: prototype keys are data', async () => {
    const args = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    await using mock = await startScript({
      session: { rounds: [{ calls: [call('__proto__', args)] }], answer: '{{results.__proto__}}' },
    });
    const body = `{"kind":"tool_result","tool_req":${JSON.stringify(call('__proto__', args))},"result":{"__proto__":{"x":1}}}`;
    expect((await mock.known().results(body)).status).toBe(202);
    const { body: text } = await mock.known().ask(`/changes`);
    expect(text).toContain('"answer":{"__proto__":{"x":1}}');
  });

  it('row 20: values that JSON cannot hold are accepted with a note', async () => {
    await using mock = await startScript({ session: { rounds: [{ calls: [call('a')] }] } });
    const body = `\ufeff{"kind":"tool_result","tool_req":${JSON.stringify(call('a'))},"result":{"k":1,"k":2,"n":9007199254740993}}`;
    expect((await mock.known().results(body)).status).toBe(202);
    const said = await mock.says(/9007199254740993/);
    expect(said).toMatch(/the key "k" occurs twice/);
    expect(said).toMatch(/byte-order mark/);
  });

  it('row 24: control characters are made visible', async () => {
    const evil = '\u001b]0;title\u0007\u001b[2J\u202e\u200b\r';
    await using mock = await startScript({ session: { rounds: [{ calls: [call('a', { evil })] }] } });
    await mock.known().results(success(call(evil), evil));
    await mock.known().results({ kind: evil, tool_req: call('a') });
    await mock
      .known()
      .results({ kind: 'error_event', error: evil, origin: evil, tool_req: call('a', { evil }) });
    await mock.ask(`/${encodeURIComponent(evil)}`);
    const { stderr } = await mock.stop();
    expect(stderr).toContain('title');
    expect(unsafeIn(stderr)).toEqual([]);
  });

  it('a very long batch is judged, and its report is bounded', async () => {
    await using mock = await startScript({ session: { rounds: [{ calls: [call('a')] }] } });
    const long = 'x'.repeat(10_000);
    const unknown = Array.from({ length: 300 }, (_, index) => success(call(`${index} ${long}`)));
    const { status, body } = await mock.known().results(batch(...unknown));
    expect(status).toBe(422);
    expect(body.length).toBeLessThan(50_000);
    expect((await mock.known().results(success(call('a')))).status).toBe(202);
    const { stderr } = await mock.stop();
    expect(stderr.length).toBeLessThan(20_000);
  });

  it('ids and names may be any text', async () => {
    const ids = ['a b', 'ü', '/', '..', '%00', '"', '\u0000', 'constructor', 'x'.repeat(5_000)];
    await using mock = await startScript({ session: { rounds: [{ calls: ids.map(id => call(id)) }] } });
    expect((await mock.known().results(batch(...ids.map(id => success(call(id)))))).status).toBe(202);
    expect(await mock.known().status()).toBe('completed');
  });
});

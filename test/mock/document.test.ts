import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type FileText, type StartedMock, startMock } from './start-mock.js';

const discovered = async (mock: StartedMock) =>
  (await fetch(`${mock.tool.url}/.well-known/rap-toolset`)).text();

const invalid = {
  name: 'x',
  tools: [{ name: 'a b' }, { name: 'a', inputSchema: 7 }, { name: 'a', inputSchema: {} }],
  ['__proto__']: { own: true },
};

const any = { fixtures: [{ match: {}, reply: { payload: 'answered {{operation}}' } }] };

describe('document: discovery answers what is written', () => {
  test.each<[unknown, (endpoint: string) => string]>([
    [{}, endpoint => `{"endpoint":"${endpoint}"}`],
    [
      invalid,
      endpoint =>
        `{"name":"x","tools":[{"name":"a b"},{"name":"a","inputSchema":7},{"name":"a","inputSchema":{}}],"__proto__":{"own":true},"endpoint":"${endpoint}"}`,
    ],
    [{ endpoint: 'ftp://x/', tools: null }, () => '{"endpoint":"ftp://x/","tools":null}'],
    [{ endpoint: null }, () => '{"endpoint":null}'],
    ['not a toolset', () => '"not a toolset"'],
    [[{ name: 'x' }], () => '[{"name":"x"}]'],
    [null, () => 'null'],
    [0, () => '0'],
  ])('%j', async (document, text) => {
    await using mock = await startMock({ ...any, document });
    expect(await discovered(mock)).toBe(text(`${mock.tool.url}/invoke`));
    const endpoint = `${mock.tool.url}/invoke`;
    const call = await mock.invoke({ operation: 'a b', endpoint });
    expect((await call.result()).body).toMatchObject({ text: 'answered a b' });
    expect((await mock.tool.waitForCall('a b')).answeredBy).toBe('#1');
    expect(await mock.tool.verified()).toMatchObject({ ok: true });
  });

  test('calls are checked against a toolset beside it; needsMigration of the document counts', async () => {
    const tool = { name: 'op', description: 'Does it', inputSchema: { type: 'object', required: ['n'] } };
    const file: FileText = {
      ...any,
      toolset: { name: 't', tools: [tool] },
      document: { needsMigration: true },
    };
    await using mock = await startMock(file);
    const call = await mock.invoke({ endpoint: `${mock.tool.url}/invoke` });
    expect((await call.result()).body).toMatchObject({
      text: expect.stringMatching(/^Error: invalid arguments/),
    });
    const move = { session_id: 'g', destination_url: 'https://new.example/' };
    expect((await mock.post('/migrate', move)).status).toBe(200);
    expect(() => parseFixtures({ version: 1, ...file, faults: { migrate: { status: 500 } } })).not.toThrow();
  });

  test('a toolset that changes: replaceFixtures() replaces document, toolset and faults', async () => {
    await using mock = await startMock({ ...any, document: {} });
    await mock.tool.replaceFixtures({ version: 1, ...any, document: 'now' });
    expect(await discovered(mock)).toBe('"now"');
    await mock.tool.replaceFixtures({
      version: 1,
      faults: { discovery: { body: '{"name":' } },
      fixtures: [{ match: { operation: 'op' }, reply: { payload: 1 } }],
    });
    expect(await discovered(mock)).toBe('{"name":');
    expect(mock.tool.toolset.tools).toMatchObject([{ name: 'op' }]);
  });
});

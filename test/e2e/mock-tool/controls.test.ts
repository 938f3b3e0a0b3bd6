import { describe, expect, it } from 'vitest';
import { openRuntime } from '../../peers/runtime.mjs';
import { temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { type MockHere, startMockHere } from '../support/mock.js';

/** What a test in any language can ask of a mock, and the flags that change how it takes invocations. */
const FIXTURES = `
version: 1
fixtures:
  - match: { operation: count }
    sequence: [{ payload: "1" }, { payload: "2" }]
    exhausted: last
`;

async function counting(...args: string[]): Promise<MockHere> {
  await using folder = await temporaryFolder();
  return await startMockHere([await folder.write('f.yaml', FIXTURES), '-q', ...args]);
}

async function textOf({ url }: MockHere, groupId = 't'): Promise<string> {
  await using runtime = await openRuntime();
  const call = await runtime.invoke(url, 'count', {}, { groupId });
  return String((await call.result()).body?.['text']);
}

describe.concurrent('POST /__mock__/reset', () => {
  const reset = ({ url }: MockHere, body = '') => ask(`${url}/__mock__/reset`, { body });

  it('resets one key, or everything with the journal', async () => {
    await using mock = await counting();
    for (const thread of ['t', 'u']) await textOf(mock, thread);
    expect((await reset(mock, '{"key":"t"}')).status).toBe(200);
    expect([await textOf(mock, 't'), await textOf(mock, 'u')]).toEqual(['1', '2']);
    expect((await mock.journal()).calls).toHaveLength(4);
    expect(await reset(mock)).toMatchObject({ status: 200, body: expect.stringContaining('"all"') });
    expect((await mock.journal()).calls).toEqual([]);
    expect(await textOf(mock, 'u')).toBe('1');
  });
});

describe.concurrent('an invocation', () => {
  it('is executed each time with --allow-repeats', async () => {
    await using mock = await counting('--drain', '0', '--allow-repeats');
    await using runtime = await openRuntime();
    const call = await runtime.invoke(mock.url, 'count', {}, { id: 'same', groupId: 't' });
    const body = JSON.stringify(call.invocation);
    for (let n = 0; n < 2; n++) expect((await ask(`${mock.url}/invoke`, { body })).status).toBe(200);
    for (let n = 0; n < 3; n++) await call.next();
    const { calls } = await mock.journal();
    expect(calls.find(({ id }) => id === 'same')?.arrivals).toBe(3);
  });

  it('over --rate-limit is answered 200, with an error result that names the wait', async () => {
    await using mock = await counting('--rate-limit', '2/1h');
    const texts = [await textOf(mock), await textOf(mock), await textOf(mock)];
    expect(texts).toEqual(['1', '2', expect.stringMatching(/^Error: .*\b\d+ ?(m|s|min)/)]);
  });

  it('beyond --keep is dropped from the journal, which counts it', async () => {
    await using mock = await counting('--keep', '10');
    for (let n = 0; n < 5; n++) await textOf(mock);
    const { events, forgotten } = await mock.journal();
    expect(events).toBe(10);
    expect(forgotten).toBeGreaterThan(5);
  });
});

import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type MockToolOptions, startMockTool } from '../../src/mock/mock-tool.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { troubleOf } from '../support/failing.js';
import { replying, startMock } from './start-mock.js';

const DEMO_FILE = JSON.parse(readFileSync(new URL('../../fixtures/demo.json', import.meta.url), 'utf8'));

const DEMO: unknown = DEMO_FILE;

describe('waitForCall(), waitForDelivery()', () => {
  test('resolves to a call that arrived, or to the next one', async () => {
    await using mock = await startMock(replying({ payload: 'x' }));
    const next = mock.tool.waitForCall('op');
    await mock.invoke({ id: 'a' });
    expect((await next).invocation?.id).toBe('a');
    expect((await mock.tool.waitForCall()).key).toBe('["g","a"]');
    await mock.invoke({ id: 'b' });
    expect((await mock.tool.waitForCall(({ invocation }) => invocation?.id === 'b')).key).toBe('["g","b"]');
  });

  test('resolves to a delivery once it was accepted or dropped; a refused call may be sent again', async () => {
    const faults = { ack: { status: 503 } };
    await using mock = await startMock(replying({ payload: 'x' }, { faults }));
    await mock.invoke({ id: 'refused' });
    await expect(mock.tool.waitForDelivery('refused', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "refused"; the last calls: op (refused, refused)',
    );
    await using taken = await startMock(replying({ payload: 'x' }));
    await taken.invoke({ id: 'taken' });
    expect((await taken.tool.waitForDelivery('taken')).dropped).toEqual([]);
    await taken.invoke({ id: 'lost', answers: [404] });
    expect((await taken.tool.waitForDelivery('lost')).dropped).toEqual([
      'the runtime answered 404; not retried',
    ]);
  });

  test('a timeout error lists the last calls', async () => {
    await using mock = await startMock(replying({ payload: 'x', delay: '1h' }));
    await expect(mock.tool.waitForCall('op', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for a call of "op"; no call was received',
    );
    await mock.invoke({ id: 'a' });
    await expect(mock.tool.waitForDelivery('a', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "a"; the last calls: op (a, waiting)',
    );
    await expect(mock.tool.waitForCall('po')).rejects.toThrow('unknown operation "po". Did you mean "op"?');
  });

  test('a delivery is found by thread, because ids are unique per thread only', async () => {
    await using mock = await startMock(replying({ payload: '{{group_id}}' }));
    for (const groupId of ['g', 'h']) await (await mock.invoke({ groupId })).result();
    const { key } = await mock.tool.waitForDelivery('i', { groupId: 'h' });
    expect(key).toBe('["h","i"]');
    await expect(mock.tool.waitForDelivery('i', { groupId: 'x', timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "i" in "x"',
    );
  });
});

describe('verified()', () => {
  test('waits for pending callbacks and for later results', async () => {
    await using mock = await startMock(replying({ payload: 'x', delay: '30ms' }));
    const call = await mock.invoke();
    expect(mock.tool.verify()).toMatchObject({ ok: false, undelivered: { count: 1 } });
    expect(await mock.tool.verified()).toMatchObject({ ok: true, calls: 1 });
    expect(call.callbacks).toHaveLength(1);
  });

  test('reports what is still pending after the timeout', async () => {
    await using mock = await startMock(replying({ payload: 'x', delay: '1h' }));
    await mock.invoke();
    expect(await mock.tool.verified({ timeoutMs: 1 })).toMatchObject({
      ok: false,
      undelivered: { examples: [{ why: 'still pending' }] },
    });
  });
});

test('assertVerified() throws the problems of the report', async () => {
  await using mock = await startMock(replying({ payload: 'x' }));
  await expect(mock.tool.assertVerified()).rejects.toThrow(
    /^verification of the mock failed\n {2}fixture .* was not used$/,
  );
  await (await mock.invoke()).result();
  await mock.tool.assertVerified();
});

describe('sources of fixtures', () => {
  const yaml = (operation: string) =>
    `version: 1\nfixtures: [{ match: { operation: ${operation} }, reply: { payload: x } }]\n`;

  test('a path, several paths, a URL, a folder, the object of a file, or parsed fixtures', async () => {
    await using folder = await temporaryFolder();
    const one = await folder.write('one.yaml', yaml('one'));
    const two = await folder.write('two.yaml', yaml('two'));
    const sources = [one, [one, two], pathToFileURL(two), folder.path, DEMO_FILE, parseFixtures(DEMO)];
    const offered: string[][] = [];
    for (const fixtures of sources) {
      await using other = await startMockTool({ fixtures });
      offered.push(other.toolset.tools.map(({ name }) => name));
    }
    const demo = expect.arrayContaining(['edit_file', 'deploy']);
    expect(offered).toEqual([['one'], ['one', 'two'], ['two'], ['one', 'two'], demo, demo]);
  });

  const wrong = 'usage: fixtures must be a path, a list of paths, or fixtures';

  test.each<[unknown, string]>([
    [{ fixtures: 7 }, wrong],
    [{ fixtures: null }, wrong],
    [{ fixtures: [] }, wrong],
    [{ fixtures: [{ path: 'a.yaml', text: '' }] }, wrong],
    [{ fixtures: Promise.resolve() }, wrong],
    [{ fixtures: { fixtures: [] } }, 'invalid-fixtures: '],
    [{ fixtures: '/nonexistent/f.yaml' }, 'unreadable-file: cannot read the fixtures /nonexistent/f.yaml: '],
    [{ handlers: {} }, 'usage: handlers must be a list'],
    ['fixtures.yaml', 'usage: startMockTool takes an object'],
  ])('%j is refused with a reason', async (options, trouble) => {
    const start = () => startMockTool(options as Parameters<typeof startMockTool>[0]);
    expect((await troubleOf(start)).slice(0, trouble.length)).toBe(trouble);
  });
});

describe('required options', () => {
  test.each<[string, MockToolOptions, RegExp]>([
    ['fixtures or handlers', {}, /^invalid-toolset: /],
    ['valid origins', { fixtures: parseFixtures(DEMO), allowCallbacks: ['nonsense'] }, /^usage: /],
  ])('%s', async (_, options, trouble) => {
    expect(await troubleOf(() => startMockTool(options))).toMatch(trouble);
  });

  test('without a seed one is generated and can be read', async () => {
    await using tool = await startMockTool({ fixtures: parseFixtures(DEMO) });
    await using other = await startMockTool({ fixtures: parseFixtures(DEMO), seed: 'mine' });
    expect([tool.seed, other.seed]).toEqual([expect.stringMatching(/^[\da-f]{8}$/), 'mine']);
  });
});

test('subscribers receive every event, and a limited number is remembered', async () => {
  await using mock = await startMock(replying({ payload: 'x' }), { keep: 3 });
  const kinds: string[] = [];
  const stop = mock.tool.subscribe(({ kind }) => void kinds.push(kind));
  await (await mock.invoke({ id: 'a' })).result();
  expect(kinds).toContain('matched');
  stop();
  const before = kinds.length;
  await (await mock.invoke({ id: 'b' })).result();
  expect([kinds.length, mock.tool.events.length]).toEqual([before, 3]);
  expect(mock.tool.forgotten).toBeGreaterThan(0);
});

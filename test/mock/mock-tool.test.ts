import { readFileSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from 'vitest';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type MockToolOptions, startMockTool } from '../../src/mock/mock-tool.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { troubleOf } from '../support/failing.js';
import { replying, stageWith } from './stage.js';

const DEMO_FILE = JSON.parse(readFileSync(new URL('../../fixtures/demo.json', import.meta.url), 'utf8'));

const DEMO: unknown = DEMO_FILE;

describe('waitForCall(), waitForDelivery()', () => {
  test('resolves to a call that arrived, or to the next one', async () => {
    await using stage = await stageWith(replying({ payload: 'x' }));
    const next = stage.tool.waitForCall('op');
    await stage.invoke({ id: 'a' });
    expect((await next).invocation?.id).toBe('a');
    expect((await stage.tool.waitForCall()).key).toBe('["g","a"]');
    await stage.invoke({ id: 'b' });
    expect((await stage.tool.waitForCall(({ invocation }) => invocation?.id === 'b')).key).toBe('["g","b"]');
  });

  test('resolves to a delivery once it was accepted or dropped; a refused call may be sent again', async () => {
    const faults = { ack: { status: 503 } };
    await using stage = await stageWith(replying({ payload: 'x' }, { faults }));
    await stage.invoke({ id: 'refused' });
    await expect(stage.tool.waitForDelivery('refused', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "refused"; the last calls: op (refused, refused)',
    );
    await using taken = await stageWith(replying({ payload: 'x' }));
    await taken.invoke({ id: 'taken' });
    expect((await taken.tool.waitForDelivery('taken')).dropped).toEqual([]);
    await taken.invoke({ id: 'lost', answers: [404] });
    expect((await taken.tool.waitForDelivery('lost')).dropped).toEqual([
      'the runtime answered 404; not retried',
    ]);
  });

  test('a timeout error lists the last calls', async () => {
    await using stage = await stageWith(replying({ payload: 'x', delay: '1h' }));
    await expect(stage.tool.waitForCall('op', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for a call of "op"; no call was received',
    );
    await stage.invoke({ id: 'a' });
    await expect(stage.tool.waitForDelivery('a', { timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "a"; the last calls: op (a, waiting)',
    );
    await expect(stage.tool.waitForCall('po')).rejects.toThrow('unknown operation "po". Did you mean "op"?');
  });

  test('a delivery is found by thread, because ids are unique per thread only', async () => {
    await using stage = await stageWith(replying({ payload: '{{group_id}}' }));
    for (const groupId of ['g', 'h']) await (await stage.invoke({ groupId })).result();
    const { key } = await stage.tool.waitForDelivery('i', { groupId: 'h' });
    expect(key).toBe('["h","i"]');
    await expect(stage.tool.waitForDelivery('i', { groupId: 'x', timeoutMs: 1 })).rejects.toThrow(
      'timed out after 1 ms waiting for the delivery of the call "i" in "x"',
    );
  });
});

describe('verified()', () => {
  test('waits for pending callbacks and for later results', async () => {
    await using stage = await stageWith(replying({ payload: 'x', delay: '30ms' }));
    const call = await stage.invoke();
    expect(stage.tool.verify()).toMatchObject({ ok: false, undelivered: { count: 1 } });
    expect(await stage.tool.verified()).toMatchObject({ ok: true, calls: 1 });
    expect(call.callbacks).toHaveLength(1);
  });

  test('reports what is still pending after the timeout', async () => {
    await using stage = await stageWith(replying({ payload: 'x', delay: '1h' }));
    await stage.invoke();
    expect(await stage.tool.verified({ timeoutMs: 1 })).toMatchObject({
      ok: false,
      undelivered: { examples: [{ why: 'still pending' }] },
    });
  });
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
  await using stage = await stageWith(replying({ payload: 'x' }), { keep: 3 });
  const told: string[] = [];
  const stop = stage.tool.subscribe(({ kind }) => void told.push(kind));
  await (await stage.invoke({ id: 'a' })).result();
  expect(told).toContain('matched');
  stop();
  const before = told.length;
  await (await stage.invoke({ id: 'b' })).result();
  expect([told.length, stage.tool.events.length]).toEqual([before, 3]);
  expect(stage.tool.forgotten).toBeGreaterThan(0);
});

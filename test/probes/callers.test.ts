import { expect, test } from 'vitest';
import type { Case } from '../../src/fixtures/check-files.js';
import { probing } from './probing.js';
import { harmless, post, type RawTool, resultOf, startRawTool } from './tools.js';

/** A tool that ends every call; with `endpoint`, another server gets its invocations. */
function startTool(endpoint?: string): Promise<RawTool> {
  return startRawTool({
    toolset: url => ({ ...harmless(url), ...(endpoint !== undefined && { endpoint }) }),
    invoked(invocation, response) {
      response.end();
      void post(invocation['callback_url'], resultOf(invocation));
    },
  });
}

const caseOf = (more: Partial<Case>): Case => ({
  ...{ place: 'c.yaml:1', operation: 'op', arguments: {}, offers: [] },
  ...more,
});

const CASES = [
  caseOf({ caller: { userId: 'bob', headers: { 'x-key': 'of bob' } } }),
  caseOf({ thread: 'one' }),
  caseOf({ thread: 'one', caller: { headers: { 'x-key': 'of ann' } } }),
];

const quick = { wants: (id: string) => id === 'TOOL-ALWAYS', cases: CASES };

test('a case sends its user and its headers, also with its notices; the cases of a thread follow each other', async () => {
  await using tool = await startTool();
  const { callsOf, eventsOfKind } = await probing(tool.url, quick);
  const calls = CASES.map((_, index) => callsOf(`case ${index}`)[0]);
  const seen = calls.map(call => ({
    user: call?.invocation?.user_id,
    key: call?.attempts[0]?.request.headers?.['x-key'],
  }));
  expect(seen).toEqual([
    { user: 'bob', key: 'of bob' },
    { user: undefined, key: undefined },
    { user: undefined, key: 'of ann' },
  ]);
  const [own, one, other] = calls.map(call => call?.invocation?.group_id);
  expect(other).toBe(one);
  expect(own).not.toBe(one);
  expect(calls[2]?.attempts[0]?.request.seq).toBeGreaterThan(calls[1]?.results[0]?.lastSeq ?? Infinity);
  const closes = eventsOfKind('request').filter(({ purpose }) => purpose === 'close');
  const keys = (thread: unknown) =>
    closes.filter(each => each.thread === thread).map(({ headers }) => headers?.['x-key']);
  expect([keys(own), keys(one)]).toEqual([['of bob'], ['of ann']]);
});

test('row 12: headers of a case do not go to an endpoint on another origin, and the check says so', async () => {
  await using other = await startTool();
  await using tool = await startTool(`${other.url}/invoke`);
  const { callsOf, eventsOfKind } = await probing(tool.url, quick);
  const [call] = callsOf('case 0');
  expect(call?.invocation?.user_id).toBe('bob');
  expect(call?.attempts[0]?.request.headers).not.toHaveProperty('x-key');
  expect(eventsOfKind('warned').map(({ message }) => message)).toEqual([
    `the endpoint ${other.url}/invoke is on another origin than ${tool.url}: x-key withheld from it`,
  ]);
});

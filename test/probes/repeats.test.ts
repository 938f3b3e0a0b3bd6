import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type ProbeOptions, probing } from './probing.js';
import { harmless, operation, post, type RawTool, resultOf, startRawTool } from './tools.js';

/** A repetition calls only what the rules that failed need. */

type Repeats = NonNullable<ProbeOptions['repeats']>;

let tool: RawTool;

beforeAll(async () => {
  const toolset = (url: string) => ({ ...harmless(url), tools: [operation('op'), operation('deploy', {})] });
  tool = await startRawTool({
    toolset,
    invoked(invocation, response) {
      response.end();
      void post(invocation['callback_url'], resultOf(invocation));
    },
  });
});

afterAll(() => tool[Symbol.asyncDispose]());

const cases = ['op', 'deploy'].map(name => ({
  place: 'c.yaml:1',
  operation: name,
  arguments: {},
  offers: [],
}));

/** The plans with calls of a repetition of these rules, each once. */
async function called(repeats: Repeats, more: Partial<ProbeOptions> = {}): Promise<readonly string[]> {
  const { eventsOfKind } = await probing(tool.url, { repeats, ...more });
  const plans = eventsOfKind('planned').filter(({ calls, again }) => calls && !again);
  return [...new Set(plans.map(({ plan }) => plan))].sort();
}

describe('the probes of a repetition', () => {
  test.each<[string, Repeats, readonly string[]]>([
    [
      'of a rule that failed in a probe that tests it',
      [{ id: 'TOOL-ID', probes: ['odd-ids', 'extra-fields'] }],
      ['odd-ids', 'valid-call'],
    ],
    [
      'of a rule that failed in a probe that tests others',
      [{ id: 'TOOL-ID', probes: ['extra-fields'] }],
      ['extra-fields', 'valid-call'],
    ],
    ['of a rule that failed outside of calls', [{ id: 'TOOL-OPAQUE' }], ['callback-urls', 'valid-call']],
    ['of a rule that failed in discovery', [{ id: 'TOOL-DISCOVER' }], []],
    [
      'of two rules',
      [{ id: 'TOOL-ID', probes: ['valid-call'] }, { id: 'TOOL-EXTRA' }],
      ['extra-fields', 'valid-call'],
    ],
  ])('%s', async (_, repeats, plans) => {
    expect(await called(repeats)).toEqual(plans);
  });

  test('of a rule that failed in cases: only operations that may be called repeatedly', async () => {
    const repeats: Repeats = [{ id: 'TOOL-ID', probes: ['case 0', 'case 1'] }];
    expect(await called(repeats, { cases })).toEqual(['case 0']);
    expect(await called(repeats, { cases, operations: ['deploy'] })).toEqual(['case 0', 'case 1']);
  });

  test('of a rule that failed in no case: no case is called', async () => {
    expect(await called([{ id: 'TOOL-DISCOVER' }], { cases })).toEqual([]);
  });
});

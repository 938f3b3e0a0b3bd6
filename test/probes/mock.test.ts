import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBES } from '../../src/check/probes/probes.js';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type MockTool, startMockTool } from '../../src/mock/mock-tool.js';
import { answersOf, type Probing, probing, sentBy, typesOf } from './probing.js';

/** Tests each probe against our mock with the demo fixtures. */
let tool: MockTool;
let run: Probing;
const leaks: Error[] = [];
const progress: [number, number, string][] = [];
const onWarning = (warning: Error) => {
  if (warning.name === 'MaxListenersExceededWarning') leaks.push(warning);
};
beforeAll(async () => {
  process.on('warning', onWarning);
  tool = await startMockTool({
    fixtures: parseFixtures(JSON.parse(readFileSync('fixtures/demo.json', 'utf8'))),
  });
  run = await probing(tool.url, { onProgress: (...state) => void progress.push(state) });
});
afterAll(() => {
  process.off('warning', onWarning);
  return tool.close();
});

test('many waits on one signal cause no leak warning from Node', () => {
  expect(leaks).toEqual([]);
});

describe('called operations', () => {
  test('only read, need no authentication and are fast', () => {
    const tried = run.callsOf('valid-call').map(each => sentBy(each)['operation']);
    expect(tried).toEqual(['edit_file', 'list_instances', 'write_outside', 'rate_limited']);
    const called = new Set(run.evidence.calls.map(({ tool: of }) => of?.name));
    expect([...called].sort()).toEqual([undefined, ...tried].sort());
  });

  test('each call has its own id and callback URL, and a thread of its own, but for two concurrent calls', () => {
    const calls = run.evidence.calls.filter(({ reading }) => reading.ok).map(sentBy);
    const count = (field: string) => new Set(calls.map(call => call[field])).size;
    expect([count('id'), count('callback_url'), count('group_id')]).toEqual([
      calls.length,
      calls.length,
      calls.length - 1,
    ]);
  });
});

describe('plans', () => {
  test('have the number of calls made', () => {
    const total = PROBES.length - 1;
    const shown = [...new Set(progress.map(([done]) => done))];
    expect(shown).toEqual(Array.from({ length: total + 1 }, (_, index) => index));
    expect(progress.at(-1)).toEqual([total, total, 'hostile-texts']);
  });
});

describe('invocations', () => {
  test('use the given callback URL, and are identified by its token', () => {
    const calls = run.callsOf('callback-urls');
    expect(calls.map(each => sentBy(each)['callback_url'])).toEqual([
      expect.stringMatching(/\?thread=a&attempt=1$/),
      expect.stringMatching(/\?token=3f1c&next=%2Fa%3Fb%3Dc&empty=$/),
      expect.stringMatching(/[\w-]\/$/),
      expect.stringMatching(/\/results\/3f1c$/),
      expect.stringMatching(/\/%c3%a9%2fb%20c$/),
      expect.stringMatching(/\/Results\?tag=a&tag=B$/),
    ]);
    expect(calls.map(({ callbacks: [callback] }) => callback?.request.url)).toEqual(
      calls.map(each => String(sentBy(each)['callback_url']).replace(/^http:\/\/[^/]+/, '')),
    );
  });

  test('malformed ones come after the valid ones of other probes, and a valid call after them succeeds', () => {
    const calls = run.callsOf('malformed');
    expect(calls.map(({ invocation }) => invocation !== null)).toEqual([...Array(9).fill(false), true]);
    expect(calls.map(({ tool: of }) => of?.name)).toEqual([...Array(9).fill(undefined), 'edit_file']);
    expect(calls.slice(5).map(typesOf)).toEqual(Array(5).fill(['tool_result']));
    const later = [...run.callsOf('hostile-texts'), ...run.callsOf('acknowledgement again')];
    expect(run.evidence.calls.filter(each => !later.includes(each)).at(-1)).toBe(calls.at(-1));
  });
});

describe('the listener', () => {
  test.each([
    ['listener-fails', [500, 500, 200], [503, 200]],
    ['listener-resets', ['broken', 200]],
    ['listener-hangs', ['broken', 200]],
    ['listener-slow', [200]],
    ['listener-refuses', [400], [404]],
  ])('%s', (plan, ...answers) => {
    expect(run.callsOf(plan).map(answersOf)).toEqual(answers);
  });
});

describe('the conversation', () => {
  test('selects the default of a choice', () => {
    const call = run.callsOf('valid-call')[2];
    expect(call && typesOf(call)).toEqual(['user_choice', 'tool_result']);
    expect(call?.decisions).toMatchObject([{ what: 'choice', value: 2, by: 'policy' }]);
    expect(call?.selections.map(({ response }) => response?.status)).toEqual([200]);
  });

  test('cancels a known call twice, and unknown and hostile ids once', () => {
    const { cancels } = run.evidence;
    expect(cancels.filter(({ request }) => request.calls?.includes('cancel 1'))).toHaveLength(2);
    const bodies = cancels.map(({ request }) => Buffer.from(request.body?.bytes ?? []).toString());
    expect(bodies.some(body => body.includes('../../etc/passwd'))).toBe(true);
    expect(cancels.map(({ response }) => response?.status)).toEqual(Array(cancels.length).fill(200));
  });

  test('closes known, unknown and hostile threads, and all its own threads at the end', () => {
    const threads = run.evidence.closes.map(({ request }) => request.thread);
    for (const { reading } of run.evidence.calls)
      if (reading.ok) expect(threads).toContain(reading.invocation.group_id);
    expect(threads).toContain('../../etc/passwd');
    expect(threads).toContain('');
  });
});

test('every call is acknowledged and has its result, if it can have one', () => {
  const unanswered = run.evidence.calls.filter(call => !typesOf(call).includes('tool_result'));
  expect(unanswered.map(({ key }) => key)).toEqual([
    'malformed 1',
    'malformed 2',
    'malformed 3',
    'malformed 4',
    'malformed 5',
  ]);
  expect(run.eventsOfKind('warned')).toEqual([]);
});

import { readFileSync } from 'node:fs';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { PROBES } from '../../src/check/probes/probes.js';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { type MockTool, startMockTool } from '../../src/mock/mock-tool.js';
import { answersOf, type Probing, probing, sentBy, typesOf } from './probing.js';

/** Our own tool, with the fixtures that everybody has: each stimulus, and what came of it. */
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
  run = await probing(tool.url, { onProgress: (...told) => void progress.push(told) });
});
afterAll(() => {
  process.off('warning', onWarning);
  return tool.close();
});

test('so many wait for one signal, and Node takes it for no leak', () => {
  expect(leaks).toEqual([]);
});

describe('what is called', () => {
  test('is what only reads, needs no authentication, and does not take long', () => {
    const tried = run.callsOf('valid-call').map(each => sentBy(each)['operation']);
    expect(tried).toEqual(['edit_file', 'list_instances', 'write_outside', 'rate_limited']);
    const called = new Set(run.evidence.calls.map(({ tool: of }) => of?.name));
    expect([...called].sort()).toEqual([undefined, ...tried].sort());
  });

  test('has an id, a thread and an address of its own each time', () => {
    const calls = run.evidence.calls.filter(({ reading }) => reading.ok).map(sentBy);
    for (const field of ['id', 'group_id', 'callback_url'])
      expect(new Set(calls.map(call => call[field])).size).toBe(calls.length);
  });
});

describe('what is planned', () => {
  test('is counted as it is done', () => {
    const total = PROBES.length - 1;
    expect(progress.map(([done]) => done)).toEqual(Array.from({ length: total }, (_, index) => index + 1));
    expect(progress.at(-1)).toEqual([total, total, 'malformed']);
  });
});

describe('invocations', () => {
  test('the callback URL is used as it is given, and known by its token', () => {
    const calls = run.callsOf('callback-urls');
    expect(calls.map(each => sentBy(each)['callback_url'])).toEqual([
      expect.stringMatching(/\?thread=a&attempt=1$/),
      expect.stringMatching(/\?token=3f1c&next=%2Fa%3Fb%3Dc&empty=$/),
      expect.stringMatching(/[\w-]\/$/),
      expect.stringMatching(/\/results\/3f1c$/),
      expect.stringMatching(/\/%c3%a9%2fb%20c$/),
    ]);
    expect(calls.map(({ callbacks: [callback] }) => callback?.request.url)).toEqual(
      calls.map(each => String(sentBy(each)['callback_url']).replace(/^http:\/\/[^/]+/, '')),
    );
  });

  test('what is malformed comes last, and a valid call after it is served', () => {
    const calls = run.callsOf('malformed');
    expect(calls.map(({ reading }) => reading.ok)).toEqual([...Array(8).fill(false), true]);
    expect(calls.map(({ tool: of }) => of?.name)).toEqual([...Array(8).fill(undefined), 'edit_file']);
    expect(calls.slice(4).map(typesOf)).toEqual(Array(5).fill(['tool_result']));
    const again = run.callsOf('acknowledgement again');
    expect(run.evidence.calls.filter(each => !again.includes(each)).at(-1)).toBe(calls.at(-1));
  });
});

describe('the listener', () => {
  test.each([
    ['listener-fails', [500, 500, 200]],
    ['listener-resets', ['broken', 200]],
    ['listener-hangs', ['broken', 200]],
    ['listener-slow', [200]],
    ['listener-refuses', [400]],
  ])('%s', (plan, answers) => {
    expect(run.callsOf(plan).map(answersOf)).toEqual([answers]);
  });
});

describe('the conversation', () => {
  test('a choice has its default selected', () => {
    const call = run.callsOf('valid-call')[2];
    expect(call && typesOf(call)).toEqual(['user_choice', 'tool_result']);
    expect(call?.decisions).toMatchObject([{ what: 'choice', value: 2, by: 'policy' }]);
    expect(call?.selections.map(({ response }) => response?.status)).toEqual([200]);
  });

  test('a known call is cancelled twice, unknown ones and hostile ids once', () => {
    const { cancels } = run.evidence;
    expect(cancels.filter(({ request }) => request.calls?.includes('cancel 1'))).toHaveLength(2);
    const bodies = cancels.map(({ request }) => Buffer.from(request.body?.bytes ?? []).toString());
    expect(bodies.some(body => body.includes('../../etc/passwd'))).toBe(true);
    expect(cancels.map(({ response }) => response?.status)).toEqual(Array(cancels.length).fill(200));
  });

  test('known threads, unknown ones and hostile ids are closed, and in the end all that were invented', () => {
    const threads = run.evidence.closes.map(({ request }) => request.thread);
    for (const { reading } of run.evidence.calls)
      if (reading.ok) expect(threads).toContain(reading.invocation.group_id);
    expect(threads).toContain('../../etc/passwd');
    expect(threads).toContain('');
  });
});

test('every call is answered and has its result, where it can have one', () => {
  const unanswered = run.evidence.calls.filter(call => !typesOf(call).includes('tool_result'));
  expect(unanswered.map(({ key }) => key)).toEqual([
    'malformed 1',
    'malformed 2',
    'malformed 3',
    'malformed 4',
  ]);
  expect(run.told('warned')).toEqual([]);
});

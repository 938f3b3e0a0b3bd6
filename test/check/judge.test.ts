import { expect, test } from 'vitest';
import { gather } from '../../src/check/evidence.js';
import { judge } from '../../src/check/judge.js';
import { RULES } from '../../src/check/rules/all.js';
import { eventsOf, type Moment } from '../events/build.js';
import { discovery, someCall, TOOLSET } from './samples/parts.js';

const calls = ['hangs', 'fails', 'refuses', 'takes'].map(key => someCall(key));
const answers = [{ status: null, code: 'ABORTED' }, { status: 500 }, { status: 400 }, { status: 200 }];

/** Four calls, each answered with a wrong id; of the callbacks only the last one is taken. */
const story = (by: 'probe' | 'fixture'): Moment[] =>
  calls.flatMap((call, index) => [
    ...call.plannedFor([]).map(moment => ({ ...moment, by }) as Moment),
    ...call.sent(),
    ...call.answered(),
    ...call.result({ id: `wrong-${index}` }, answers[index]),
  ]);

async function judged(by: 'probe' | 'fixture') {
  const events = eventsOf(story(by));
  const check = judge(RULES['TOOL-ID'], await gather({ events }, 'tool'));
  return { ...check, legs: check.events.flatMap(seq => events[seq]?.calls?.[0] ?? []) };
}

test('what a tool did wrong is shown where nothing of it is the doing of a probe, first', async () => {
  const { legs, actual } = await judged('probe');
  expect([...new Set(legs)]).toEqual(['takes', 'hangs', 'fails']);
  expect(actual).toBe('"wrong-3"');
});

test('in the order in which it came, where no probe was at work', async () => {
  const { legs, actual } = await judged('fixture');
  expect([...new Set(legs)]).toEqual(['hangs', 'fails', 'refuses']);
  expect(actual).toBe('"wrong-0"');
});

test('of many foreign ids the first three are told, and how many more there are; a kind of breach once', async () => {
  const many = Array.from({ length: 50 }, (_, index) => someCall(`call-${index}`));
  const events = eventsOf(
    many.flatMap((call, index) => [
      ...call.sent(),
      ...call.answered(),
      ...call.result({ id: `job-${index}` }),
    ]),
    calls.flatMap(call => [...call.sent(), ...call.answered(), ...call.asks({ id: 'job-0' })]),
  );
  const { reason } = judge(RULES['TOOL-ID'], await gather({ events }, 'tool'));
  expect(reason).toBe(
    'a tool_result has another id: "job-0", "job-1", "job-2" and 47 more; a user_choice has another id: "job-0"',
  );
});

test('what could not be seen since its operation was not called says so; what any call shows does not', async () => {
  const names = ['edit_file', 'ask', 'watch', 'paint', 'sign_in'];
  const tools = names.map(name => ({ name, description: '', inputSchema: { type: 'object' } }));
  const loaded: Moment = { kind: 'loaded', base: null, endpoint: '/', toolset: 'demo', operations: names };
  const [call = someCall('a')] = calls;
  const events = eventsOf(discovery({ ...TOOLSET, tools }), [loaded], call.plannedFor([]), call.sent());
  const evidence = await gather({ events }, 'tool');
  const left = 'not called: ask, watch, paint and 1 more';
  expect(judge(RULES['TOOL-CHOICE'], evidence).reason).toBe(`no question was asked and answered; ${left}`);
  expect(judge(RULES['TOOL-DIFF'], evidence).reason).toBe(`no result had a diff to show; ${left}`);
  expect(judge(RULES['TOOL-ID'], evidence).reason).toBe('no result or question came that could be read');
});

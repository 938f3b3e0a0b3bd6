import { planned, someCall } from '../parts.js';
import { fails, passes, type SampleSet, type Samples, skips, unclear } from '../sample.js';

const a = someCall('a');

const b = someCall('b');

const begun = () => a.begun();

const groupSamples: Samples = [
  passes('the group_id of the call', [begun(), a.oauth(), a.result()]),
  fails(
    'an unknown group_id',
    [begun(), a.result({ group_id: 'default' }, { status: 404 })],
    /another group_id: "default"/,
  ),
  fails('a view of another thread', [
    begun(),
    a.posts({ type: 'view_update', group_id: '', view_type: 'diff', content: {} }, { status: 404 }),
  ]),
  skips('the group_id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ group_id: 'thread_b' }, { status: 404 }),
  ]),
];

const idSamples: Samples = [
  passes('the id of the call', [begun(), a.asks(), a.result()]),
  fails(
    'an id made up by the tool',
    [begun(), a.result({ id: 'job-7' }, { status: 404 })],
    /another id: "job-7"/,
  ),
  fails('a question with an id made up by the tool', [begun(), a.oauth({ id: 'A' }, { status: 404 })]),
  skips('the id of another call, which TOOL-ISOLATE covers', [
    begun(),
    b.sent(),
    a.result({ id: 'b' }, { status: 404 }),
  ]),
  skips('an event with the id of another call, which TOOL-SUB covers', [
    begun(),
    a.news({ tool_call_id: 'x' }, { status: 404 }),
  ]),
];

const callIdA = someCall('a', { call_id: 'fc_1' });

const plain = someCall('plain');

const callIdBegun = () => callIdA.begun();

const callIdSamples: Samples = [
  passes('the given call_id', [callIdBegun(), callIdA.result({ call_id: 'fc_1' })]),
  passes('a question without it, and a result with it', [
    callIdBegun(),
    callIdA.asks({ call_id: undefined }),
    callIdA.result({ call_id: 'fc_1' }),
  ]),
  fails('null although one was given', [callIdBegun(), callIdA.result({ call_id: null })]),
  fails('another one in a question', [callIdBegun(), callIdA.asks({ call_id: 'fc_2' })], /user_choice/),
  fails(
    'a call_id although none was given',
    [plain.begun(), plain.result({ call_id: 'plain' })],
    /another call_id: "plain"/,
  ),
  skips('none given and none sent', [plain.begun(), plain.result({ call_id: null })]),
  skips('the ids of another call, which had no call_id and which TOOL-ISOLATE covers', [
    callIdBegun(),
    b.sent(),
    callIdA.result({ id: 'b', group_id: 'thread_b', call_id: null }, { status: 404 }),
  ]),
];

const isolateA = someCall('a', { call_id: 'fc_a' });

const isolateB = someCall('b', { call_id: 'fc_b' });

const both = () => [...isolateA.sent(), ...isolateB.sent(), ...isolateA.answered(), ...isolateB.answered()];

const isolateSamples: Samples = [
  passes(
    'two concurrent calls, each with its own result',
    [both(), isolateB.result({ call_id: 'fc_b' }), isolateA.result({ call_id: 'fc_a' })],
    /2 calls that overlapped/,
  ),
  fails(
    'the result of a call at the URL of another call',
    [both(), isolateA.result({ id: 'b', group_id: 'thread_b' }, { status: 404 })],
    /group_id, id of another call/,
  ),
  fails('the thread of another call', [
    both(),
    isolateA.result({ group_id: 'thread_b' }, { status: 404 }),
    isolateB.result(),
  ]),
  fails(
    'the call_id of another call',
    [both(), isolateA.result({ call_id: 'fc_b' }), isolateB.result()],
    /call_id/,
  ),
  fails(
    'the result of one call several times, and no result of those that ran with it',
    [both(), isolateB.result(), isolateB.result(), isolateA.waited()],
    /a call got 2 results, and 1 that ran at the same time got none/,
  ),
  fails('the same in a recording whose runtime gave up', [
    both(),
    isolateB.result(),
    isolateB.result(),
    isolateA.closed(),
  ]),
  skips('the result of one call several times, after the other was canceled', [
    both(),
    isolateA.cancelled(),
    isolateB.result(),
    isolateB.result(),
  ]),
  passes('a result again that was not accepted at once, and a slow call', [
    both(),
    isolateB.result({}, { status: 503 }),
    isolateB.result(),
    isolateA.result(),
  ]),
  skips('two calls, of which one has no result yet', [both(), isolateB.result()]),
  unclear(
    'two results of one call, and none yet of the other one',
    [both(), isolateB.result(), isolateB.result({ text: 'of the other' })],
    /a call got 2 results, and 1 that ran at the same time had none at the end/,
  ),
  skips('two calls, one after the other', [
    isolateA.begun(),
    isolateA.result(),
    isolateB.begun(),
    isolateB.result(),
  ]),
  unclear('only one of two planned calls', [planned(['TOOL-ISOLATE']), isolateA.begun(), isolateA.result()]),
];

export const IDS: SampleSet = {
  'TOOL-GROUP': groupSamples,
  'TOOL-ID': idSamples,
  'TOOL-CALLID': callIdSamples,
  'TOOL-ISOLATE': isolateSamples,
};

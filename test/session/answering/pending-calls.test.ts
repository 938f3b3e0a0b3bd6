import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { PlatformSession } from '../../../src/session/client/platform-session.js';
import { fakeClock } from '../../support/fake-clock.js';

const awaiting = (...calls: unknown[]) => stateChange('awaiting_tool_results', calls);
const running = () => stateChange('running', []);

function stateChange(state: unknown, pending_tool_calls: unknown) {
  return { type: 'ActiveStateChangeEvent', data: { state, pending_tool_calls } };
}

const call = (id: unknown, tool_name: unknown = 'lookup_order', args: unknown = {}) => ({
  tool_name,
  args,
  id,
});

/** A session whose platform reports these events, one group for each look. */
function reporting(...groups: readonly (readonly unknown[])[]) {
  const pages = groups.flatMap(events => [events, []]);
  const warnings: string[] = [];
  const clock = fakeClock();
  const log = createLog(clock.now);
  log.subscribe(event => event.kind === 'warned' && warnings.push(event.message));
  const status = 'awaiting_tool_results';
  const send = async ({ url }: { url: string }) => {
    const value = url.endsWith('/status') ? { status } : { status, new_events: pages.shift() ?? [] };
    return { status: 200, headers: {}, body: Buffer.from(JSON.stringify(value)) };
  };
  const client = { send, close: async () => {} };
  const { signal } = new AbortController();
  const about = { client, log, clock, url: 'http://p/s', thread: 's', key: 'sk-very-secret', signal };
  return { session: new PlatformSession(about), warnings };
}

async function shown(...events: unknown[]) {
  const { session, warnings } = reporting(events);
  await session.look(0);
  return { calls: session.listed, keys: session.listed.map(({ key }) => key), warnings };
}

describe('which calls are pending', () => {
  it.each<[string, unknown[], string[]]>([
    ['those of the latest event', [awaiting(call('a')), awaiting(call('b'), call('c'))], ['b', 'c']],
    ['none once the agent runs again', [awaiting(call('a')), running()], []],
    ['the remaining calls', [awaiting(call('a'), call('b')), awaiting(call('b'))], ['b']],
    [
      'unaffected by other events',
      [awaiting(call('a')), { type: 'PolicyEvent', data: { state: 'idle' } }],
      ['a'],
    ],
    ['null ids by a number', [awaiting(call(null), call(undefined), call(''))], ['#1', '#2', '#3']],
    [
      'the same null id for the remaining calls',
      [awaiting(call(null), call(null, 'b')), awaiting(call(null, 'b'))],
      ['#2'],
    ],
    [
      'null ids distinguished by arguments',
      [
        awaiting(call(null, 't', { a: 1, b: 2 }), call(null, 't', { a: 2 })),
        awaiting(call(null, 't', { a: 2 })),
      ],
      ['#2'],
    ],
    ['a null id that is reused later', [awaiting(call(null)), running(), awaiting(call(null))], ['#2']],
    ['an id that is reused later', [awaiting(call('a')), running(), awaiting(call('a'))], ['a (2)']],
    ['an id that looks like a generated key', [awaiting(call('#1'), call(null))], ['#1', '#2']],
    ['the first of two with the same id', [awaiting(call('a', 'x'), call('a', 'y'))], ['a']],
    [
      'the earlier calls if an unknown state has no list',
      [awaiting(call('a')), stateChange('paused', undefined)],
      ['a'],
    ],
    ['the calls of an unknown state', [awaiting(call('a')), stateChange('paused', [call('b')])], ['b']],
    ['none once the session is idle', [awaiting(call('a')), stateChange('idle', undefined)], []],
  ])('%s', async (_, events, keys) => expect((await shown(...events)).keys).toEqual(keys));

  it('contain the request as the platform sent it', async () => {
    const native = { tool_name: 'a', args: { x: 1 }, id: 7, tenant: 'ours' };
    const [pending] = (await shown(awaiting(native))).calls;
    expect(pending).toMatchObject({ key: '#1', id: null });
    expect(pending?.native).toEqual(native);
  });
});

describe('unreadable input', () => {
  it.each<[string, unknown, RegExp]>([
    ['no data', { type: 'ActiveStateChangeEvent' }, /no state/],
    ['no state', stateChange(7, []), /no state/],
    ['no list', stateChange('awaiting_tool_results', 'call_1'), /not a list/],
    ['an invalid call', awaiting('call_1'), /no tool_name.*call_1/],
    ['no name', awaiting({ id: 'call_1' }), /no tool_name.*call_1/],
    ['a duplicate id', awaiting(call('a'), call('a')), /"a" is pending twice/],
    [
      'a duplicate invalid id',
      awaiting({ ...call('a'), id: { toString: 1 } }, { ...call('a'), id: { toString: 1 } }),
      /toString.* is pending twice/,
    ],
  ])('%s causes a warning', async (_, event, said) =>
    expect((await shown(event)).warnings.join()).toMatch(said),
  );

  it('never throws, and no two calls share a key', async () => {
    const odd = { toString: 1 };
    const id = fc.oneof(fc.constantFrom('a', '#1', 'a (2)', null, '', odd), fc.jsonValue());
    const pending = fc.oneof(
      fc.record({ tool_name: fc.constantFrom('x', 'y'), args: fc.jsonValue(), id }),
      fc.jsonValue(),
    );
    const event = fc.oneof(
      fc.array(pending).map(calls => awaiting(...calls)),
      fc.constant(running()),
      fc.jsonValue(),
    );
    await fc.assert(
      fc.asyncProperty(fc.array(event), async events => {
        const { session } = reporting(...events.map(each => [each]));
        const natives = new Map<string, unknown>();
        for (const _ of events) {
          await session.look(0);
          for (const { key, native } of session.listed) {
            if (natives.has(key)) expect(natives.get(key)).toEqual(native);
            natives.set(key, native);
          }
        }
      }),
    );
  });
});

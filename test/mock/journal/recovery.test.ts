import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { Content } from '../../../src/events/content.js';
import type { Turn } from '../../../src/events/events.js';
import type { Log } from '../../../src/events/log.js';
import type { Recovery } from '../../../src/mock/journal/recovery.js';
import {
  accepted,
  answered,
  dropped,
  type Folder,
  invocationOf,
  messageOf,
  posted,
  received,
  run,
  temporaryFolder,
} from './runs.js';

/** As earlier versions wrote it, too. */
const STOPPED = 'the tool was stopped before it was delivered';

let place: Folder;
beforeEach(async () => {
  place = await temporaryFolder();
});
afterEach(() => place[Symbol.asyncDispose]());

/** What a run finds after one in which this happened; and what the one after that finds is the same, from a rewritten file. */
async function leftBy(happens: (log: Log) => void): Promise<Recovery> {
  await run(place.path, happens);
  const recovery = await run(place.path);
  expect(plain(await run(place.path))).toEqual(plain(recovery));
  return recovery;
}

function plain({ calls, ...others }: Recovery): unknown {
  return {
    ...others,
    calls: calls.map(({ key, thread, invocation, headers, matched, rendered }) => ({
      ...{ key, thread, headers, matched, invocation: invocation.sha256 },
      rendered: rendered.map(({ url, body: { sha256 }, contentType, turn, state }) => ({
        ...{ url, sha256, contentType, turn, state },
      })),
    })),
  };
}

const text = ({ bytes }: Content) => Buffer.from(bytes).toString();
const keys = ({ calls }: Recovery) => calls.map(({ key }) => key);
const ids = ({ settled }: Recovery) => settled.map(({ id }) => id);
const posts = ({ calls: [call] }: Recovery) => call?.rendered.map(({ body, state }) => [text(body), state]);
const result = (id: string) => messageOf('tool_result', id);

describe('an acknowledged call', () => {
  it('is recovered unchanged and in order', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      log.emit({ kind: 'matched', fixture: 'f', key: 'k', count: 1, calls: ['a'], thread: 'g' });
      accepted(log, 'b');
    });
    expect(keys(recovery)).toEqual(['a', 'b']);
    expect(recovery.calls[0]).toMatchObject({
      thread: 'g',
      headers: { authorization: 'Bearer t0ken' },
      matched: { fixture: 'f', key: 'k', count: 1 },
      rendered: [],
    });
    expect(recovery.calls.map(({ invocation }) => text(invocation))).toEqual([
      text(invocationOf('a')),
      text(invocationOf('b')),
    ]);
    expect(recovery.settled).toEqual([]);
  });

  it.each([503, 201, 204])(
    'is not recovered if it was refused with %i, but is if it was sent again',
    async status => {
      const refused = (log: Log) => answered(log, received(log, 'a'), status, 'a');
      expect(await leftBy(refused)).toMatchObject({ calls: [], settled: [] });
      const again = (log: Log) => {
        refused(log);
        answered(log, received(log, 'a', { attempt: 2 }), 200, 'a');
      };
      expect(keys(await leftBy(again))).toEqual(['a']);
    },
  );

  it('keeps a binary body', async () => {
    const body = new Content(Uint8Array.of(0xff, 0x00, 0x0a));
    const recovery = await leftBy(log => void received(log, 'a', { body }));
    expect([...(recovery.calls[0]?.invocation.bytes ?? [])]).toEqual([0xff, 0x00, 0x0a]);
  });
});

describe('killed: rendered callbacks', () => {
  it('are recovered with their exact bytes and whether they arrived', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      answered(log, posted(log, 'a', messageOf('oauth', 'a')), 200, 'a');
      dropped(log, 'a', 'the runtime answered 404; not retried', {
        leg: posted(log, 'a', messageOf('view_update', 'a')),
      });
      const leg = posted(log, 'a', result('a'));
      log.emit({ kind: 'broken', leg, phase: 'connect', code: 'ECONNREFUSED', calls: ['a'], thread: 'g' });
    });
    expect(recovery.calls[0]?.rendered[0]).toMatchObject({
      url: 'http://127.0.0.1:9/cb?token=x',
      contentType: 'application/json',
    });
    expect(posts(recovery)).toEqual([
      [text(messageOf('oauth', 'a')), 'delivered'],
      [text(messageOf('view_update', 'a')), 'dropped'],
      [text(result('a')), 'waiting'],
    ]);
  });

  it('are one callback for any number of attempts', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      const body = result('a');
      for (const attempt of [1, 2, 3]) answered(log, posted(log, 'a', body, { attempt }), 503, 'a');
    });
    expect(posts(recovery)).toEqual([[text(result('a')), 'waiting']]);
  });

  it('are as many as a fault demands', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      const body = messageOf('view_update', 'a');
      answered(log, posted(log, 'a', body), 200, 'a');
      answered(log, posted(log, 'a', body), 503, 'a');
      answered(log, posted(log, 'a', body, { attempt: 2 }), 200, 'a');
      posted(log, 'a', body);
    });
    expect(posts(recovery)?.map(([, state]) => state)).toEqual(['delivered', 'delivered', 'waiting']);
  });

  it('settle their call when the next run delivers them', async () => {
    await run(place.path, log => {
      accepted(log, 'a');
      posted(log, 'a', result('a'));
    });
    const second = await leftBy(log => answered(log, posted(log, 'a', result('a')), 200, 'a'));
    expect([keys(second), ids(second)]).toEqual([[], ['a']]);
  });

  it('are not confused with those of an earlier run that used the same request ids', async () => {
    await run(place.path, log => {
      accepted(log, 'a');
      posted(log, 'a', result('a'));
    });
    const second = await leftBy(log => {
      log.leg();
      answered(log, log.leg(), 200, 'a');
    });
    expect(posts(second)).toEqual([[text(result('a')), 'waiting']]);
  });

  it('INT, TERM, HUP: wait for the next run if the process ends first', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      dropped(log, 'a', `${STOPPED}: the runtime answered 503`, { leg: posted(log, 'a', result('a')) });
      accepted(log, 'b');
      dropped(log, 'b', STOPPED, { type: 'tool_result' });
    });
    expect(keys(recovery)).toEqual(['a', 'b']);
    expect(posts(recovery)).toEqual([[text(result('a')), 'waiting']]);
  });
});

describe('a call is over', () => {
  it.each<[string, (log: Log) => void]>([
    ['with its result', log => answered(log, posted(log, 'a', result('a')), 200, 'a')],
    [
      'with a result that was refused',
      log => dropped(log, 'a', '404', { leg: posted(log, 'a', result('a')) }),
    ],
    [
      'row 9: with a result for a forbidden address',
      log => dropped(log, 'a', 'not allowed', { type: 'tool_result' }),
    ],
    [
      'with an unreadable result, as planned',
      log => answered(log, posted(log, 'a', new Content(Buffer.from('{"type":'))), 200, 'a'),
    ],
    [
      'without a result, as planned',
      log => log.emit({ kind: 'planned', by: 'fixture', plan: 'silence', calls: ['a'] }),
    ],
    [
      'with a lost result, as planned',
      log => log.emit({ kind: 'planned', by: 'fault', plan: 'drop', calls: ['a'] }),
    ],
    [
      'if the invocation was dropped',
      log => log.emit({ kind: 'dropped', what: 'invocation', why: 'x', count: 1, calls: ['a'] }),
    ],
  ])('%s', async (_, ends) => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      ends(log);
    });
    const { sha256 } = invocationOf('a');
    expect(recovery).toMatchObject({ calls: [], settled: [{ groupId: 'g', id: 'a', sha256 }] });
  });

  it.each<[string, (log: Log) => void]>([
    ['after a question', log => answered(log, posted(log, 'a', messageOf('user_choice', 'a')), 200, 'a')],
    ['after a refused view', log => dropped(log, 'a', 'not allowed', { type: 'view_update' })],
    ['after another plan', log => log.emit({ kind: 'planned', by: 'fault', plan: 'late', calls: ['a'] })],
    ['after events of other calls', log => answered(log, posted(log, 'b', result('b')), 200, 'b')],
  ])('a call is not over %s', async (_, happens) => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      happens(log);
    });
    expect([keys(recovery), recovery.settled]).toEqual([['a'], []]);
  });

  it('a call whose 200 was lost stays over when it is sent again or delivered once more', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      const body = result('a');
      answered(log, posted(log, 'a', body), 200, 'a');
      answered(log, received(log, 'a', { attempt: 2 }), 200, 'a');
      posted(log, 'a', body);
    });
    expect([keys(recovery), ids(recovery)]).toEqual([[], ['a']]);
  });
});

describe('a call with more messages than its result', () => {
  const about = (key: string) => ({ calls: [key], thread: 'g' });
  const said = (log: Log, type: string, turn?: Turn) =>
    answered(log, posted(log, 'a', messageOf(type, 'a'), turn && { turn }), 200, 'a');
  const subscribed = (log: Log) => {
    accepted(log, 'a');
    said(log, 'tool_result', { index: 0, next: [1] });
  };
  const cancelled = (log: Log) => void received(log, 'a', { purpose: 'cancel' });
  const closed = (log: Log) => void received(log, 'a', { purpose: 'close' });
  const drop = (log: Log, type: string, turn?: Turn) =>
    log.emit({ kind: 'planned', by: 'fault', plan: 'drop', type, turn, ...about('a') });

  it('continues where it was', async () => {
    const { calls } = await leftBy(log => {
      subscribed(log);
      said(log, 'subscription_event', { index: 1, next: [2] });
    });
    expect(calls).toMatchObject([{ isAnswered: true, turn: { index: 1, next: [2] }, cancelReason: null }]);
  });

  it('continues after a message that was dropped as planned, its result or another', async () => {
    const view = await leftBy(log => {
      accepted(log, 'a');
      drop(log, 'view_update', { index: 0, next: [1] });
    });
    expect(view.calls).toMatchObject([{ isAnswered: false, turn: { index: 0, next: [1] }, rendered: [] }]);
    const lost = await leftBy(log => {
      drop(log, 'tool_result', { index: 0, next: [1] });
      said(log, 'subscription_event', { index: 1, next: [2] });
    });
    expect(lost.calls).toMatchObject([{ isAnswered: true, turn: { index: 1, next: [2] } }]);
  });

  it.each([
    ['a cancel', cancelled, 'the call was canceled'],
    ['the end of its thread', closed, 'the thread was closed'],
  ])('is over after %s, unless its result is still pending', async (_, ends, reason) => {
    const waiting = await leftBy(log => {
      accepted(log, 'a');
      ends(log);
    });
    expect(waiting.calls).toMatchObject([{ cancelReason: reason, isAnswered: false }]);
    const other = await temporaryFolder();
    await run(other.path, log => {
      subscribed(log);
      posted(log, 'a', messageOf('subscription_event', 'a'), { turn: { index: 1, next: [2] } });
      ends(log);
    });
    expect(keys(await run(other.path))).toEqual([]);
    await other[Symbol.asyncDispose]();
  });

  it('keeps the message of a refusal', async () => {
    const { calls } = await leftBy(log => {
      accepted(log, 'a');
      log.emit({ kind: 'warned', message: 'no fixture matches', ...about('a') });
      log.emit({ kind: 'matched', fixture: null, ...about('a') });
    });
    expect(calls).toMatchObject([{ refusal: 'no fixture matches' }]);
  });
});

describe('counts and states of fixtures', () => {
  const matched = (
    log: Log,
    fixture: string,
    key: string,
    count: number,
    state?: { key: string; to: string },
  ) => log.emit({ kind: 'matched', fixture, key, count, ...(state && { state }) });
  const told = ({ matched }: Recovery) =>
    matched.map(({ fixture, key, count, state }) => [fixture, key, count, state?.to ?? null]);

  it('the latest of each fixture and key, in order', async () => {
    const recovery = await leftBy(log => {
      for (const count of [1, 2, 3]) matched(log, 'f', 'k', count);
      matched(log, 'f', 'other', 1);
      matched(log, 'g', 'k', 1);
      matched(log, 'f', 'k', 4);
    });
    expect(told(recovery)).toEqual([
      ['f', 'other', 1, null],
      ['g', 'k', 1, null],
      ['f', 'k', 4, null],
    ]);
  });

  it('the latest state, even if its fixture continued without one and its call is still open', async () => {
    const recovery = await leftBy(log => {
      accepted(log, 'a');
      const state = { key: 'k', to: 'paid' };
      log.emit({ kind: 'matched', fixture: 'f', key: 'k', count: 1, state, calls: ['a'] });
      matched(log, 'g', 'k', 1, { key: 'k', to: 'shipped' });
      matched(log, 'f', 'k', 2);
      matched(log, 'g', 'k', 2);
    });
    expect(told(recovery)).toEqual([
      ['g', 'k', 1, 'shipped'],
      ['f', 'k', 2, null],
      ['g', 'k', 2, null],
    ]);
  });

  it('reset when the thread ends', async () => {
    const recovery = await leftBy(log => {
      matched(log, 'f', 'g', 1, { key: 'g', to: 'paid' });
      matched(log, 'f', 'h', 1);
      received(log, 'a', { purpose: 'close' });
    });
    expect(told(recovery)).toEqual([['f', 'h', 1, null]]);
  });
});

import { createElement } from 'react';
import { describe, expect, test } from 'vitest';
import { Content } from '../../../src/events/content.js';
import { callbackRedactor } from '../../../src/events/shareable.js';
import { say } from '../../../src/render/line.js';
import { paletteOf } from '../../../src/render/terminal/theme.js';
import { callSheets } from '../../../src/tui/calls/tabs.js';
import { Sheet } from '../../../src/tui/components/Reader.js';
import { EMPTY_READING } from '../../../src/tui/reading/sheet.js';
import { discovery, someCall, stray } from '../../check/samples/parts.js';
import {
  acknowledged,
  arrives,
  bytesArrive,
  CHOICE,
  call,
  canceled,
  closed,
  EVENT,
  eventsOf,
  expected,
  INVOCATION,
  KEY,
  lost,
  type Moment,
  OAUTH,
  RESULT,
  resultArrives,
  VIEW,
} from '../../events/build.js';
import { rowsOf } from '../drawn.js';
import { onCalls, withoutStyle } from './support/open-session.js';

const escaped = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&');

const LARGE = { columns: 120, rows: 60 };
const sent = [...call(), ...acknowledged()];

/** What the tab with this number shows of a call with these facts. */
function tabOf(tab: string, ...facts: readonly (readonly Moment[])[]): string {
  const session = onCalls(facts.flat());
  session.press(tab);
  return session.sees(LARGE);
}

const subscribed = [...sent, ...resultArrives({ subscription: true })];
const event = (leg: string, fields: object = {}) => arrives({ ...EVENT, ...fields }, { leg });

test.each<[string, readonly Moment[]]>([
  ['… sent', call()],
  ['… not acknowledged: ECONNREFUSED', [...call(), ...lost()]],
  ['… expected', expected()],
  ['? asks for a choice', [...sent, ...arrives(CHOICE)]],
  ['? asks for consent', [...sent, ...arrives(OAUTH)]],
  ['✗ error (by convention)', [...sent, ...resultArrives({ text: 'Error: no' })]],
  ['… success after 0ms, 1 event so far', [...subscribed, ...event('e1')]],
  ['✓ success after 0ms, 1 event, canceled', [...subscribed, ...event('e1'), ...canceled()]],
  ['✓ success after 0ms, 0 events, closed', [...subscribed, ...closed()]],
])('the row of a call: %s', (state, facts) => {
  expect(onCalls(facts).sees(LARGE)).toContain(state);
});

test('a pending call has its steps so far; the last one is what it waits for', () => {
  const session = onCalls(sent);
  expect(session.sees()).toMatch(
    /PENDING the steps so far.*\n✓ sent edit_file to .*\n✓ acknowledged with 200.*\n… waiting for the result/,
  );
  session.press('2');
  expect(session.sees()).toMatch(/… waiting for the result/);
  session.emit(resultArrives());
  expect(session.sees()).not.toContain('waiting');
});

describe('a recording does not look live', () => {
  const a = someCall('a');
  const misdirected = stray({ type: 'tool_result', group_id: 'thread_a', id: 'a', text: 'done' });
  const recorded = (...facts: readonly (readonly Moment[])[]) => {
    const session = onCalls([], { opened: ['a.ndjson'] });
    for (const each of eventsOf(facts.flat())) session.model.sources[1]?.callLog.apply(each);
    session.press('V');
    return session;
  };

  test.each<[string, readonly Moment[]]>([
    ['✗ not acknowledged: no answer', call()],
    ['✗ not acknowledged: 503', a.begun({ status: 503 })],
    ['✗ not acknowledged: ECONNREFUSED', [...call(), ...lost()]],
    ['✗ no result', sent],
    ['✗ no result, and no answer to its question', [...sent, ...arrives(CHOICE)]],
    ['✗ posted to a wrong address  ! see Problems', [...a.begun(), ...misdirected]],
    ['✓ success after 4ms  ! see Problems', [...a.begun(), ...misdirected, ...a.result()]],
    ['✓ success after 2ms, 1 event, open', [...subscribed, ...event('e1')]],
  ])('the row of a call: %s', (state, facts) => {
    const seen = recorded(facts).sees(LARGE);
    expect(seen.split('\n').find(row => row.startsWith('❯'))).toMatch(new RegExp(`${escaped(state)}$`));
    expect(seen).not.toContain('…');
  });

  test('a call without a result is red in the list', () => {
    const session = onCalls([], { opened: ['a.ndjson'], level: 1 });
    const two = [...a.begun(), ...someCall('b').begun()];
    for (const each of eventsOf(two)) session.model.sources[1]?.callLog.apply(each);
    session.press('V');
    const row = session.draw(LARGE).find(each => withoutStyle(each).includes('✗ no result'));
    expect(row?.replaceAll('\u001b', '␛')).toContain('␛[31m✗␛[39m ␛[31mno result␛[39m');
  });

  test('RT-SUB: an event after the last one has the answer that was recorded', () => {
    const last = arrives({ ...EVENT, final: true }, { leg: 'e1' });
    const after = arrives({ ...EVENT, text: 'more' }, { leg: 'e2', status: 200 });
    const session = recorded(subscribed, last, after);
    const marked =
      '✗ subscription_event belongs to no open subscription: the subscription has ended; the runtime answered 200';
    const wide = { columns: 400, rows: 30 };
    const panes = session.sees(wide);
    expect(panes).toMatch(/HUMAN text .*, 1 event /);
    expect(panes.split(marked)).toHaveLength(3);
    expect(panes).not.toContain('more');
    session.press('2');
    expect(session.sees(wide)).toMatch(new RegExp(`${escaped(marked)}.*\n.*answered 200`));
    expect(session.sees(wide)).not.toContain('404');
  });

  test('a call without a result has its steps, and says so in each tab', () => {
    const session = recorded(a.begun(), misdirected);
    expect(session.sees(LARGE)).toMatch(
      /NO RESULT in this recording.*\n✓ sent edit_file to .*\n✓ acknowledged with 200.*\n✗ a POST to a wrong .*\n✗ no result in this recording/,
    );
    session.press('2');
    expect(session.sees(LARGE)).toMatch(/✗ no result in this recording/);
    expect(session.sees(LARGE)).not.toMatch(/waiting|PENDING/);
  });
});

describe('RT-SUB: a call with a subscription', () => {
  test('counts only valid events', () => {
    expect(tabOf('1', subscribed, event('e1', { tool_call_id: 'another' }))).toContain(
      'HUMAN text (no display_as), 0 events so far',
    );
  });

  test('has all of its events, though the call record keeps fewer', () => {
    const many = Array.from({ length: 2_100 }, (_, index) => event(`e${index}`, { text: `<${index}>` }));
    const session = onCalls([...subscribed, ...many.flat()]);
    expect(session.model.sources[0]?.callLog.history.first?.forgotten).toBeGreaterThan(0);
    session.press('<enter>', 'G');
    expect(session.sees(LARGE)).toContain('event 2100 → child thread: <2099>');
    session.press('<tab>', '/');
    session.typed('<1777>\r');
    expect(session.sees(LARGE)).toContain('match 1 of 1 on line 3,558');
  });
});

test('b shows each message below its event', () => {
  const session = onCalls([...sent, ...bytesArrive(new Uint8Array([0xff]))]);
  session.press('2', 'b');
  const bytes = session
    .sees(LARGE)
    .split('\n')
    .filter(line => / {11}│ /.test(line));
  expect(bytes[0]).toContain('{"operation":"edit_file",');
  expect(bytes.at(-1)).toContain('0000  ff ');
  session.press('b');
  expect(session.sees(LARGE)).not.toContain('{"operation"');
});

test('the timeline has events whose messages the call record dropped', () => {
  const large = { ...VIEW, view_type: 'note', content: { note: 'x'.repeat(2 * 1024 * 1024) } };
  const views = Array.from({ length: 10 }, (_, index) => arrives(large, { leg: `view-${index}` }));
  const seen = tabOf('2', call(), views.flat());
  expect(seen).toContain('TIMELINE 21 events');
  expect(seen.match(/• view note updated/g)).toHaveLength(10);
});

test('Wire shows an answer below its own request, also if it is read after every event', () => {
  const facts = [
    ...call(),
    ...arrives(EVENT),
    ...acknowledged(),
    ...arrives({ ...EVENT, text: 'another' }, { leg: 'back-2' }),
    ...resultArrives({}, { leg: 'back-3' }),
  ];
  const session = onCalls([]);
  session.press('3');
  for (const fact of facts) {
    session.emit([fact]);
    session.sees(LARGE);
  }
  const seen = session.sees({ columns: 120, rows: 120 });
  expect(seen.match(/^[<>] (\d{3}|POST \S+)/gm)).toEqual([
    '> POST http://127.0.0.1:3001/invoke',
    '< 200',
    ...Array(3).fill('< POST /callback/token'),
  ]);
});

test('threats, row 25: no credential and no secret of a URL', () => {
  const headers = { authorization: 'Bearer canary', 'x-key': 'other-canary', host: 'h' };
  const seen = tabOf(
    '3',
    call().map(moment => ({ ...moment, headers }) as Moment),
    arrives({ ...OAUTH, auth_url: 'https://auth.example/consent?state=canary' }),
    arrives({ ...CHOICE, response_url: 'http://127.0.0.1:3001/choices/canary_canary_canary' }, { leg: 'b2' }),
  );
  expect(seen).not.toContain('canary');
  expect(seen).toContain('> authorization: [redacted]');
});

test('a large body is made safe once, however many events follow', () => {
  let readings = 0;
  class Watched extends Content {
    override get bytes(): Uint8Array {
      readings++;
      return super.bytes;
    }
  }
  const invocation = { ...INVOCATION, arguments: { text: 'x'.repeat(100_000) } };
  const body = new Watched(Buffer.from(JSON.stringify(invocation)));
  const session = onCalls(call().map(moment => ({ ...moment, body }) as Moment));
  session.press('3');
  session.sees(LARGE);
  const before = readings;
  session.emit([...acknowledged(), ...resultArrives()]);
  session.sees(LARGE);
  expect(readings).toBe(before);
});

describe('Problems', () => {
  const judged = async (session: ReturnType<typeof onCalls>, wanted: RegExp) => {
    session.press('5');
    await expect.poll(() => session.sees(LARGE)).toMatch(wanted);
    return session.sees(LARGE);
  };

  test('RT-ARGS: a call sent unvalidated on purpose is a note; for a file this is unknown', async () => {
    const invocation = { ...INVOCATION, arguments: {} };
    const odd = [...discovery(), ...call({ invocation }), ...acknowledged(), ...resultArrives()];
    const wished = await judged(onCalls(odd, { unvalidated: [KEY] }), /^Notes$/m);
    expect(wished).toMatch(/^Notes\n {2}the arguments do not match the inputSchema of edit_file: /m);
    expect(wished.replaceAll(/\s+/g, ' ')).toContain('sent without validation, as requested (RT-ARGS)');
    await judged(onCalls(odd), /^• RT-ARGS {2}SHOULD/m);
    const saved = onCalls([], { unvalidated: [KEY], opened: ['a.ndjson'] });
    for (const each of eventsOf(odd)) saved.model.sources[1]?.callLog.apply(each);
    saved.press('V');
    await judged(saved, /^• RT-ARGS {2}SHOULD/m);
  });

  test('drawing has the effect that a call is checked: once, and again after it has changed', async () => {
    const changes: number[] = [];
    let checks = 0;
    let revision = 1;
    const shown = {
      entries: [],
      forgotten: 0,
      running: [],
      redactor: callbackRedactor(),
      result: [],
      views: [],
      emptyViewsText: '',
      checkedSide: '',
      get revision() {
        return revision;
      },
      async judge() {
        const nth = ++checks;
        return () => [[say(`check ${nth}`)]];
      },
    };
    const sheetNow = callSheets(shown, () => changes.push(checks)).problems;
    const place = {
      name: 'call',
      focus: 0,
      isZoomed: false,
      showsBytes: false,
      size: { columns: 40, rows: 5 },
    };
    const draw = () =>
      rowsOf(
        createElement(Sheet, {
          reading: EMPTY_READING,
          place: { ...place, sheet: sheetNow(), palette: paletteOf(0), highlighter: () => null },
          onSeen: () => {},
        }),
        40,
      );
    sheetNow();
    expect(checks).toBe(0);
    expect(draw()[1]).toBe('checking …');
    expect(draw()[1]).toBe('checking …');
    await expect.poll(() => changes).toEqual([1]);
    expect(draw()[1]).toBe('check 1');
    expect(checks).toBe(1);
    revision = 2;
    sheetNow();
    expect(checks).toBe(1);
    expect(draw()[1]).toBe('check 1');
    await expect.poll(() => changes).toEqual([1, 2]);
    expect(draw()[1]).toBe('check 2');
  });

  test('later events are judged too', async () => {
    const session = onCalls([...sent, ...resultArrives({}, { status: 200 })]);
    await judged(session, /✓ no problems/);
    session.emit(arrives({ ...RESULT, text: 'other' }, { leg: 'b2', status: 200 }));
    await judged(session, /^Failed\n✗ TOOL-ONCE {2}MUST/m);
  });
});

import { describe, expect, test } from 'vitest';
import type { Server } from '../../../../src/tui/workbench/model.js';
import { readyServer, toolOf } from '../support/bench.js';
import { EDIT, openSession } from '../support/open-session.js';

const FAILED = { kind: 'failed', message: 'no one is there', faults: [], hint: null } as const;

test('without a server it says how to add one', () => {
  const session = openSession({ servers: [] });
  expect(session.sees()).toContain(
    'No servers yet.\nu opens one by its URL; D opens the demo, a tool bundled with this program.\n',
  );
  expect(session.sees({ columns: 40, rows: 8 })).toContain('u opens one by its URL');
});

describe('a list of tools that is longer than its share', () => {
  const named = (count: number) => Array.from({ length: count }, (_, index) => toolOf(`tool_${index}`));
  const listed = (screen: string) => screen.match(/^(?:❯| ) {3}tool_\d+/gm) ?? [];

  test('has the rows that the details leave free', () => {
    const session = openSession({ servers: [readyServer(named(9))] });
    expect(listed(session.sees())).toHaveLength(9);
    expect(session.sees()).toContain('inputSchema');
    expect(session.sees()).not.toContain(' more ');
  });

  test('says how many there are that are not seen, above and below', () => {
    const session = openSession({ servers: [readyServer(named(60))] });
    const seen = listed(session.sees()).length;
    expect(session.sees()).toMatch(new RegExp(`^… ${60 - seen} more below$`, 'm'));
    session.press('G');
    const above = 61 - listed(session.sees()).length;
    expect(session.sees()).toMatch(new RegExp(`^… ${above} more above$`, 'm'));
    session.press(...'k'.repeat(30));
    const [, over, under] = /^… (\d+) more above, (\d+) more below$/m.exec(session.sees()) ?? [];
    expect(Number(over) + Number(under)).toBe(61 - listed(session.sees()).length);
  });

  test.each([
    { columns: 40, rows: 8 },
    { columns: 120, rows: 24 },
  ])('says so at $columns×$rows too, with the selected one in sight', size => {
    const session = openSession({ servers: [readyServer(named(60))] });
    session.press('G', 'k');
    expect(session.sees(size)).toMatch(/^❯ {3}tool_58/m);
    expect(session.sees(size)).toMatch(/^… \d+ more above/m);
  });
});

describe('the foot says what Enter does', () => {
  const ready = readyServer([EDIT]);
  const of = (state: Server['state']): Server => ({ ...ready, state });

  test.each<[string, readonly Server[], string, RegExp]>([
    ['with an operation', [ready], 'G', /^⏎ fill in {3}↑↓ select/],
    ['with a server', [ready], 'g', /^⏎ reload {3}↑↓ select/],
    ['with one that is asked', [of({ kind: 'loading' })], 'g', /^↑↓ select {3}\/ search {3}c calls/],
    ['with one that sleeps', [of({ kind: 'asleep', command: 'run' })], 'g', /^⏎ start {3}↑↓ select/],
    ['with one that failed', [of(FAILED)], 'g', /^⏎ retry {3}x remove {3}↑↓ select/],
    ['where none exists', [], 'g', /^c calls {3}u open a URL {3}D demo/],
  ])('%s', (_, servers, key, foot) => {
    const session = openSession({ servers });
    session.press(key);
    expect(session.sees().split('\n').at(-1)).toMatch(foot);
  });
});

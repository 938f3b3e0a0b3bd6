import { describe, expect, test } from 'vitest';
import type { Server } from '../../../../src/tui/workbench/model.js';
import { readyServer } from '../support/bench.js';
import { EDIT, openSession } from '../support/open-session.js';

const FAILED = { kind: 'failed', message: 'no one is there', faults: [], hint: null } as const;

test('without a server it says how to add one', () => {
  const session = openSession({ servers: [] });
  expect(session.sees()).toContain(
    'No servers yet.\nPress u to open one by its URL, or D to open the bundled demo.\n',
  );
  expect(session.sees({ columns: 40, rows: 8 })).toContain('Press u to open one by its URL');
});

describe('the last row says what Enter does', () => {
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

import { describe, expect, test } from 'vitest';
import type { Server } from '../../../src/tui/workbench/model.js';
import { expectCpuBelow } from '../../support/cpu-ms.js';
import { EDIT, openSession } from './support/open-session.js';
import { readyServer, toolOf } from './support/set-up-workbench.js';

const LOADING: Server = { ...readyServer([]), about: 'slow.example', state: { kind: 'loading' } };
const OTHER = { ...readyServer([toolOf('other_file', { inputSchema: EDIT.inputSchema })]), id: 's2' };
const FAILED: Server = { ...LOADING, state: { kind: 'failed', message: 'gone', faults: [], hint: null } };
const wanted = { operation: 'edit_file', arguments: () => ({ path: 'given' }) };

describe('the requested form', () => {
  test('opens as soon as its operation is known, from the named server', () => {
    const session = openSession({ servers: [LOADING, OTHER], start: { ...wanted, server: 's1' } });
    expect(session.sees()).toContain('[Tools]');
    session.changes({ servers: [readyServer([EDIT]), OTHER] });
    expect(session.sees()).toMatch(/^❯ path\* {2}given/m);
  });

  test('does not open over a page after a key was pressed: a message, and its arguments are kept', () => {
    const session = openSession({ servers: [LOADING, OTHER], start: wanted });
    session.press('<enter>');
    session.typed('precious');
    session.changes({ servers: [readyServer([EDIT]), OTHER] });
    expect(session.sees()).toContain('[Form other_file]');
    expect(session.sees()).toMatch(/^❯ path\* {2}precious/m);
    expect(session.sees()).toContain('edit_file of http://127.0.0.1:3001 is ready: its form is in Tools.');
    session.press('<escape>', 'g', 'j', '<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}given/m);
  });
});

describe('an unknown operation', () => {
  const misspelt = { ...wanted, operation: 'edit_fil' };

  test('is reported with the most similar one, whose form has the given arguments', () => {
    const session = openSession({ servers: [readyServer([toolOf('alpha'), EDIT])], start: misspelt });
    expect(session.sees()).toContain('No operation "edit_fil" is offered. Did you mean "edit_file"?');
    session.press('<enter>');
    expect(session.sees()).toMatch(/^❯ path\* {2}given/m);
  });

  test('is reported when no server is still loading', () => {
    const session = openSession({ servers: [LOADING, OTHER], start: { operation: 'nowhere_at_all' } });
    expect(session.sees()).not.toContain('is offered');
    session.changes({ servers: [FAILED, OTHER] });
    expect(session.sees()).toContain('No operation "nowhere_at_all" is offered.');
    expect(session.sees()).not.toContain('Did you mean');
  });
});

test('RT-TOOLSET: an operation of several configured toolsets is marked, in the list and in its details', () => {
  const alone = toolOf('alone');
  const one = { ...readyServer([EDIT, alone]), isConfigured: true };
  const session = openSession({ servers: [one, { ...one, id: 's2' }, { ...readyServer([EDIT]), id: 's3' }] });
  const sees = () => session.sees({ columns: 160, rows: 24 });
  expect(sees().match(/edit_file ⚠ in 2 toolsets/g)).toHaveLength(2);
  expect(sees()).toContain('2 configured toolsets define it, so none of them is used (RT-TOOLSET)');
  session.press('G');
  expect(sees()).toMatch(/❯ {3}edit_file {2}What/);
  expect(sees()).not.toContain('RT-TOOLSET');
  Object.assign(session.model, { servers: [one] });
  expect(sees()).not.toContain('⚠');
});

test('RT-TOOLSET: its form does not open: Enter says why; an open one says so in its head', () => {
  const one = { ...readyServer([EDIT]), isConfigured: true };
  const session = openSession({ servers: [one] });
  const why = '2 configured toolsets define it, so none of them is used (RT-TOOLSET)';
  session.press('<enter>');
  expect(session.sees()).toContain('[Form edit_file]');
  expect(session.sees()).not.toContain('RT-TOOLSET');
  session.changes({ servers: [one, { ...one, id: 's2' }] });
  expect(session.sees().split('\n')).toContain(why);
  session.press('<escape>');
  expect(session.sees()).not.toContain('fill in');
  session.press('<enter>');
  expect(session.sees()).toContain('[Tools]');
  expect(session.sees().replaceAll(/\s+/g, ' ')).toContain(
    `edit_file: ${why}. Press u to open one by its URL.`,
  );
});

test('the title counts operations, and no servers', () => {
  const session = openSession({ servers: [readyServer([EDIT, toolOf('alpha')]), OTHER] });
  expect(session.sees()).toContain('── Tools 1/3 ─');
  session.press('G');
  expect(session.sees()).toContain('── Tools 3/3 ─');
  session.press('g');
  expect(session.sees()).toContain('── Tools 3 ─');
});

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
    ['with one that sleeps', [of({ kind: 'unstarted', command: 'run' })], 'g', /^⏎ start {3}↑↓ select/],
    ['with one that failed', [of(FAILED.state)], 'g', /^⏎ retry {3}x remove {3}↑↓ select/],
    ['where none exists', [], 'g', /^c calls {3}u open a URL {3}D demo/],
  ])('%s', (_, servers, key, foot) => {
    const session = openSession({ servers });
    session.press(key);
    expect(session.sees().split('\n').at(-1)).toMatch(foot);
  });
});

const WORDS = Array.from({ length: 100_000 }, (_, index) => `word ${index}`);
const nested = (depth: number): object =>
  depth === 0 ? { type: 'string' } : { type: 'array', minItems: 100, items: nested(depth - 1) };

test.each<[string, Readonly<Record<string, unknown>>]>([
  ['nested arrays of 100, 6 deep', { properties: { a: nested(6) }, required: ['a'] }],
  ['a default of 5 MB', { properties: { a: { type: 'string', default: 'x'.repeat(5_000_000) } } }],
  ['an enum of 100,000 values', { properties: { a: { enum: WORDS } } }],
  [
    'a name of a megabyte among 1,000',
    {
      properties: Object.fromEntries(
        ['x'.repeat(1_000_000), ...WORDS.slice(0, 1_000)].map(word => [word, {}]),
      ),
    },
  ],
  ['10,000 properties', { properties: Object.fromEntries(WORDS.slice(0, 10_000).map(word => [word, {}])) }],
])('threats, row 22: %s: tools page, form and keys are drawn soon', async (_, schema) => {
  const tool = toolOf('hostile', { inputSchema: { type: 'object', ...schema } });
  await expectCpuBelow(3_000, () => {
    const session = openSession({ servers: [readyServer([tool])] });
    for (const key of [
      'j',
      '<pageDown>',
      '<enter>',
      '<down>',
      'x',
      '<ctrl-o>',
      'y',
      '<ctrl-o>',
      '<ctrl-r>',
    ]) {
      session.press(key);
      session.sees();
    }
    expect(session.sees()).toContain('hostile');
  });
});

import { describe, expect, test } from 'vitest';
import type { Server } from '../../../src/tui/workbench/model.js';
import { readyServer, toolOf } from './support/bench.js';
import { EDIT, openSession } from './support/open-session.js';

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

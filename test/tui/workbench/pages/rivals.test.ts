import { expect, test } from 'vitest';
import { readyServer, toolOf } from '../support/bench.js';
import { EDIT, openSession } from '../support/open-session.js';

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

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
  Object.assign(session.world, { servers: [one] });
  expect(sees()).not.toContain('⚠');
});

import { expect, test } from 'vitest';
import { openSession } from '../support/open-session.js';

test('where there is no server yet, it says how to come to one', () => {
  const session = openSession({ servers: [] });
  expect(session.sees()).toContain(
    'No servers yet.\nu opens one by its URL; demo there is the tool bundled with this program.\n',
  );
  expect(session.sees({ columns: 40, rows: 8 })).toContain('u opens one by its URL');
});

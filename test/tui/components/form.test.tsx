import stringWidth from 'string-width';
import { describe, expect, test } from 'vitest';
import { Form } from '../../../src/tui/components/Form.js';
import type { FormState } from '../../../src/tui/workbench/form/form.js';
import { rowsOf } from '../drawn.js';
import { formFor, pressAll } from '../workbench/form/support/pressing.js';

const FORM = formFor(
  { path: { type: 'string', description: 'The file to edit' }, line: { type: 'integer', minimum: 1 } },
  ['path'],
);
const TARGET = { method: 'POST', url: 'http://127.0.0.1:3001/invoke' };

function rendered(form: FormState, columns: number, rows: number): readonly string[] {
  return rowsOf(<Form form={form} size={{ columns, rows }} request={TARGET} />, columns).map(row =>
    row.trimEnd(),
  );
}

describe('a form', () => {
  test('has a row for each field, with its type, limits and hints beside the value', () => {
    expect(rendered(FORM, 80, 6)).toEqual([
      '❯ path*                                   string · required · Ctrl-D sends ""',
      '    The file to edit',
      '  line                                    integer · at least 1',
      '  ▶ Run',
      '',
      '',
    ]);
  });

  test('shows beside the fields the request that it would send, at 120 columns or more', () => {
    expect(rendered(pressAll(FORM, 'a.txt', '<down>', 'x'), 120, 6)).toEqual([
      '  path*  a.txt                     string                    REQUEST  POST http://127.0.0.1:3001/invoke',
      '❯ line   x                         integer · at least 1        {',
      '  ▶ Run                                                          "path": "a.txt",',
      '                                                             ✗   "line": "x"  must be an integer, as 42',
      '                                                               }',
      '',
    ]);
    expect(rendered(FORM, 119, 6).join('\n')).not.toContain('REQUEST');
  });

  test('nothing beside the value moves while it is typed', () => {
    const columnsOf = (typed: string) => {
      const [row = ''] = rendered(pressAll(FORM, typed), 120, 6);
      return ['string', 'REQUEST'].map(word => stringWidth(row.slice(0, row.indexOf(word))));
    };
    for (const typed of ['b'.repeat(24), 'c'.repeat(99), '日本語テキスト🙂🙂👩‍👩‍👧'])
      expect(columnsOf(typed)).toEqual(columnsOf('a'));
  });

  test('as JSON has the whole width', () => {
    expect(rendered(pressAll(FORM, 'a.txt', '<ctrl-o>'), 120, 6)).toEqual([
      'As JSON: Ctrl-O goes back to the fields.',
      '{',
      '  "path": "a.txt"',
      '}',
      '  ▶ Run',
      '',
    ]);
  });

  test.each([
    [60, 20],
    [80, 24],
    [120, 36],
    [160, 45],
    [200, 60],
  ])('at %i×%i has as many rows as it gets, and none is too wide', (columns, rows) => {
    const names = Array.from({ length: 99 }, (_, index) => `field ${index}`);
    const form = formFor(
      Object.fromEntries(names.map(name => [name, { type: 'string', default: name.repeat(9) }])),
    );
    const drawn = rendered(
      pressAll(form, '<pageDown>', '<pageDown>', '<pageDown>', '<pageDown>'),
      columns,
      rows,
    );
    expect(drawn).toHaveLength(rows);
    expect(drawn.filter(row => row.length > columns)).toEqual([]);
    expect(drawn.findIndex(row => row.startsWith('❯'))).toBeGreaterThan(rows / 2 - 4);
  });
});

import { describe, expect, test } from 'vitest';
import { checkValue } from '../../../../src/json-schema/validator.js';
import { Form } from '../../../../src/tui/workbench/form/form.js';
import { drawn, formFor, pressAll } from './support/pressing.js';

/** The form with all that is wrong about it, by its own reading and by its schema. */
async function judged(form: Form): Promise<Form> {
  const args = form.arguments();
  if (args.ok) throw new Error('it has no fault of its own');
  const check = await checkValue(form.schema, args.others);
  return args.form.withOtherFaults(check.kind === 'invalid' ? check.faults : []);
}

const faultsOf = async (form: Form) =>
  (await judged(form)).state.faults.map(({ path, message }) => `${path} ${message}`);

const EDIT = formFor(
  {
    depth: { type: 'integer', maximum: 9 },
    line: { type: 'integer', minimum: 1 },
    path: { type: 'string' },
    tags: { type: 'array', items: { type: 'string', maxLength: 3 }, uniqueItems: true },
  },
  ['line', 'path'],
  { depth: 12, line: 1, tags: ['long one'] },
);

test('what cannot be read, what is empty, and what breaks the schema is reported at once; the first is in focus', async () => {
  const form = await judged(pressAll(EDIT, '<down>', '<ctrl-u>', 'twelve'));
  expect(drawn(form).filter(row => /✗|❯|Run/.test(row))).toEqual([
    '❯ depth    12[ ]                                                           integer',
    '    ✗ must be <= 9 (maximum)',
    '    ✗ must be an integer, as 42',
    '    ✗ is required',
    '    ✗ must NOT have more than 3 characters (maxLength)',
    '  ▶ Run   4 faults',
  ]);
});

describe('what cannot be read causes no other fault', () => {
  test('at its own place', async () => {
    const short = { type: 'string', enum: ['a', 'b'] };
    const form = formFor(
      { n: { type: 'integer', minimum: 5 }, one: short, text: { pattern: '^x$', type: 'string' } },
      ['n', 'one', 'text'],
    );
    expect(await faultsOf(pressAll(form, 'x'))).toEqual([
      '$.n must be an integer, as 42',
      '$.one is required',
      '$.text is required',
    ]);
  });

  test('in other variants', async () => {
    const variant = (kind: string, properties: object) => ({
      properties: { kind: { const: kind }, ...properties },
      required: ['kind', ...Object.keys(properties)],
    });
    const schema = {
      type: 'object',
      oneOf: [variant('a', { n: { type: 'integer' } }), variant('b', { other: {} })],
      properties: { least: { type: 'integer', minimum: 3 } },
    };
    const form = Form.of(schema, { kind: 'a', n: 1, least: 1 });
    expect(await faultsOf(pressAll(form, '<down>', '<down>', '<down>', '<ctrl-u>', 'x'))).toEqual([
      '$.n must be an integer, as 42',
      '$.least must be >= 3 (minimum)',
    ]);
  });

  test('in its list', async () => {
    const list = formFor({ n: { type: 'array', items: { type: 'integer' }, uniqueItems: true } });
    expect(await faultsOf(pressAll(list, '<enter>', 'x', '<down>', '<enter>', 'y'))).toEqual([
      '$.n[0] must be an integer, as 42',
      '$.n[1] must be an integer, as 42',
    ]);
  });
});

test('without demands what is required may be empty; what cannot be read stays a fault', () => {
  expect(EDIT.arguments(false)).toEqual({ ok: true, value: { depth: 12, line: 1, tags: ['long one'] } });
  expect(pressAll(EDIT, 'x').arguments(false)).toMatchObject({
    ok: false,
    form: { state: { faults: [{ path: '$.depth' }] } },
  });
});

import { describe, expect, test } from 'vitest';
import {
  CALLBACK_TYPES,
  type CallbackReading,
  type CallbackType,
  readCallback,
} from '../../../src/protocol/callbacks.js';
import { parseJson } from '../../../src/util/json.js';
import { SEED_RESULTS } from '../seed-messages.js';

const read = (value: unknown): CallbackReading => readCallback(parseJson(JSON.stringify(value)));
const faultsOf = (reading: CallbackReading) => (reading.ok ? [] : reading.faults);
const warningsOf = (reading: CallbackReading) => (reading.ok ? reading.warnings : ['failed']);

const ids = { group_id: 'thread_xyz', id: 'call_abc123' };
/** One message of each type, with all fields. */
const VALID: Readonly<Record<CallbackType, Readonly<Record<string, unknown>>>> = {
  tool_result: {
    ...ids,
    call_id: null,
    text: 'done',
    content: [
      { type: 'text', text: 'done' },
      { type: 'image', data: 'aGk=', mediaType: 'image/png' },
    ],
    display_as: [{ type: 'hologram', content: { any: 'thing' } }],
    subscription: true,
  },
  oauth: { ...ids, call_id: 'c', auth_url: 'https://auth.example/consent?state=1' },
  user_choice: {
    ...ids,
    call_id: 'c',
    prompt: 'Where to?',
    choices: ['staging', 'production'],
    default: 1,
    response_url: 'http://127.0.0.1:3001/choices/1',
  },
  subscription_event: {
    group_id: 'thread_xyz',
    tool_call_id: 'call_abc123',
    text: 'opened',
    associative: true,
    final: true,
  },
  view_update: { group_id: 'thread_xyz', view_type: 'diff', content: { patch: '' } },
};
const message = (type: CallbackType, fields: object = {}) => ({ type, ...VALID[type], ...fields });

test('knows every type of the protocol', () => {
  expect([...CALLBACK_TYPES].sort()).toEqual(Object.keys(VALID).sort());
});

describe('seed 000: every example is a tool_result without a warning', () => {
  test.each(Object.entries(SEED_RESULTS))('%s', (_, source) => {
    const native: unknown = JSON.parse(source);
    expect(readCallback(parseJson(source))).toEqual({ ok: true, message: native, native, warnings: [] });
  });
});

describe.each(CALLBACK_TYPES)('%s', type => {
  test('returns all fields', () => {
    expect(read(message(type))).toMatchObject({ ok: true, message: message(type), warnings: [] });
  });

  test('ignores unknown fields, and keeps them in the native message', () => {
    const reading = read(message(type, { extra: { deep: 1 } }));
    expect(reading).toMatchObject({ ok: true, native: { extra: { deep: 1 } } });
    expect(reading.ok && 'extra' in reading.message).toBe(false);
  });

  test('RT-VALIDATE: reports a wrong type of any field with its path', () => {
    for (const field of Object.keys(VALID[type])) {
      const [fault = ''] = faultsOf(read(message(type, { [field]: 7.5 })));
      expect(fault).toMatch(new RegExp(`^\\$\\.${field}: `));
    }
  });
});

describe('tolerant reading', () => {
  const result = { type: 'tool_result', ...ids, text: 'done' };

  test('null for an optional member counts as absent, and its path is reported', () => {
    const native = { ...result, content: null, display_as: null, subscription: null };
    expect(read(native)).toEqual({
      ok: true,
      message: result,
      native,
      warnings: [],
      nulls: ['$.content', '$.display_as', '$.subscription'],
    });
    const event = { ...message('subscription_event'), associative: null, final: null };
    expect(read(event)).toMatchObject({ ok: true, nulls: ['$.associative', '$.final'] });
  });

  test('null for a required member is an error', () => {
    expect(faultsOf(read({ ...result, id: null, display_as: null }))).toEqual(['$.id: must be a string']);
    expect(faultsOf(read({ ...result, text: null }))).toEqual(['$.text: must be a string']);
    expect(faultsOf(read(message('user_choice', { choices: [null] })))).toEqual([
      '$.choices[0]: must be a string',
    ]);
  });

  test('an empty content counts as absent: text is what the model gets', () => {
    expect(read({ ...result, content: [] })).toMatchObject({ ok: true, message: result, warnings: [] });
    const reading = read({ ...result, content: [] });
    expect(reading.ok && 'content' in reading.message).toBe(false);
    expect(faultsOf(read({ type: 'tool_result', ...ids, content: [] }))).toEqual([
      '$.text: is required (or content, in the later text of the protocol)',
    ]);
  });
});

const REQUIRED = {
  tool_result: ['group_id', 'id'],
  oauth: ['group_id', 'id', 'auth_url'],
  user_choice: ['group_id', 'id', 'prompt', 'choices', 'default', 'response_url'],
  subscription_event: ['group_id', 'tool_call_id', 'text'],
  view_update: ['group_id', 'view_type', 'content'],
} satisfies Record<CallbackType, readonly string[]>;

test.each(CALLBACK_TYPES)('RT-VALIDATE: the required fields of %s', type => {
  for (const field of REQUIRED[type])
    expect(faultsOf(read(message(type, { [field]: undefined })))).toEqual([
      expect.stringMatching(new RegExp(`^\\$\\.${field}: `)),
    ]);
});

describe('TOOL-CHOICE', () => {
  test.each([
    [{ choices: [], default: 0 }, expect.stringMatching(/^\$\.choices: must have at least 1 items?$/)],
    [{ default: 2 }, '$.default: is not the index of one of the choices'],
    [{ default: -1 }, '$.default: must be at least 0'],
    [{ default: 0.5 }, '$.default: must be an integer'],
    [{ choices: ['a', 1] }, '$.choices[1]: must be a string'],
    [{ response_url: 'file:///etc/passwd' }, '$.response_url: must be an http or https URL'],
    [{ response_url: '/relative' }, '$.response_url: must be an http or https URL'],
  ])('%j', (fields, fault) => {
    expect(faultsOf(read(message('user_choice', fields)))).toContainEqual(fault);
  });
});

describe('TOOL-OAUTH and row 13: auth_url', () => {
  test.each([
    'javascript:alert(1)',
    'http://auth.example/',
    'https://good.example@evil.example/',
    '$(reboot)',
    '',
  ])('rejects %j', auth_url => {
    expect(faultsOf(read(message('oauth', { auth_url })))).toContain(
      '$.auth_url: must be an https URL without a user in it (http only on loopback)',
    );
  });

  test('accepts http on loopback', () => {
    expect(warningsOf(read(message('oauth', { auth_url: 'http://[::1]:4000/' })))).toEqual([]);
  });
});

describe('tool_result: text, content, display_as', () => {
  const bare = { type: 'tool_result', ...ids };

  test('rejects a message with neither text nor content', () => {
    expect(faultsOf(read(bare))).toEqual([
      '$.text: is required (or content, in the later text of the protocol)',
    ]);
  });

  test('accepts content without text, with a warning', () => {
    expect(warningsOf(read({ ...bare, content: [{ type: 'text', text: 'a' }] }))).toEqual([
      { id: 'TOOL-POST', message: 'the result has content but no text, which older runtimes require' },
    ]);
  });

  test('an empty text is a text', () => {
    expect(read({ ...bare, text: '' })).toMatchObject({ ok: true, warnings: [] });
  });

  test('content items have one of the two types', () => {
    expect(faultsOf(read({ ...bare, content: [{ type: 'video', data: '' }] }))).toEqual([
      expect.stringMatching(/^\$\.content\[0\]\.type: /),
    ]);
  });

  test('accepts a segment of any type, with any content or none: an invalid hint does not lose a result', () => {
    for (const content of [null, 7, {}, 'text', undefined])
      expect(read({ ...bare, text: '', display_as: [{ type: 'x', content }] })).toMatchObject({ ok: true });
  });
});

describe('an unknown type: the error names the known ones', () => {
  test.each([
    [{ ...ids, type: 'tool_error' }, 'is "tool_error"'],
    [{ ...ids, type: 7 }, 'is 7'],
    [{ ...ids }, 'is absent'],
  ])('%j', (value, said) => {
    expect(faultsOf(read(value))).toEqual([
      `$.type: ${said}; a callback is one of tool_result, oauth, user_choice, subscription_event, view_update`,
    ]);
  });

  test.each([[null], [7], ['text'], [[]]])('%j is not a message', value => {
    expect(faultsOf(read(value))).toEqual(['$: must be an object']);
  });
});

test('invalid JSON is an error', () => {
  expect(readCallback({ ok: false, reason: 'the body is not valid UTF-8' })).toEqual({
    ok: false,
    faults: ['the body is not valid UTF-8'],
  });
});

test('row 20: notes about the JSON become warnings', () => {
  const [source = ''] = Object.values(SEED_RESULTS);
  const reading = readCallback(parseJson(`\uFEFF${source}`));
  expect(warningsOf(reading)).toEqual([
    { id: 'TOOL-POST', message: `the body starts with a byte-order mark${RESULT_LOST}` },
  ]);
});

const RESULT_LOST = '; strict runtimes, such as the reference, refuse it: the whole result is lost';

describe('a warning says what it costs', () => {
  const result = (text: string) => `{"type":"tool_result","group_id":"g","id":"i",${text}}`;

  test.each([
    [
      '"text":"a","text":"b"',
      `the key "text" occurs twice in one object; the last one is used${RESULT_LOST}`,
    ],
    ['"text":"","x":1e999', `the number 1e999 is too large to hold${RESULT_LOST}`],
    ['"text":"\\ud83d"', `a string holds a lone surrogate (half of a UTF-16 pair)${RESULT_LOST}`],
    ['"text":"","x":9007199254740993', 'the number 9007199254740993 cannot be held exactly'],
  ])('%s', (text, message) => {
    expect(warningsOf(readCallback(parseJson(result(text))))).toEqual([{ id: 'TOOL-POST', message }]);
  });
});

test('row 19: __proto__ becomes no prototype', () => {
  const reading = readCallback(
    parseJson(`{"type":"tool_result","id":"a","group_id":"b","text":"","__proto__":{"text":"x"}}`),
  );
  expect(reading.ok && Object.getPrototypeOf(reading.message)).toBe(Object.prototype);
  expect(reading.ok && Object.keys(reading.message).sort()).toEqual(['group_id', 'id', 'text', 'type']);
});

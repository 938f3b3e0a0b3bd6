import fc from 'fast-check';
import type { Answer, DialectName } from '../../src/dialects/dialect.js';
import type { JudgedOutcome } from '../../src/protocol/outcome.js';
import { anyCharacter } from '../support/characters.js';

/** Generators of all kinds of values in the dialects. */

const word = fc.string({ unit: anyCharacter, maxLength: 12 });
const wordOrNull = fc.option(word);
/** Frequently contains texts that look like an outcome. */
const text = fc.oneof(
  word,
  word.map(each => `Error: ${each}`),
  fc.constantFrom(
    '{"timeout":{"durationMs":5}}',
    '{"canceled":{}}',
    '{"error":{"message":"x"}}',
    'null',
    '"a"',
  ),
);
/** The value after a JSON round trip: no `-0`, no holes. */
const json = fc.jsonValue({ maxDepth: 3 }).map(value => JSON.parse(JSON.stringify(value)));
const object = fc.dictionary(word, json, { maxKeys: 3 });
const base64 = fc.base64String({ maxLength: 8 });

const extras = fc.constantFrom<object>(
  {},
  { extra: 1 },
  { 'x-y': null, other: { deep: [] } },
  JSON.parse('{"__proto__":{"a":1}}'),
);
const withExtras = (given: fc.Arbitrary<object>) =>
  fc.tuple(extras, given).map(([more, one]) => ({ ...more, ...one }));

const request = withExtras(
  fc.record({ tool_name: word, args: object, id: wordOrNull }, { requiredKeys: ['tool_name'] }),
);

const contentItem = fc.oneof(
  withExtras(fc.record({ type: fc.constant('text'), text })),
  withExtras(fc.record({ type: fc.constant('image'), data: base64, mediaType: word })),
);
const body = fc.oneof(
  fc.record({ text }),
  fc.record({ content: fc.array(contentItem, { minLength: 1, maxLength: 4 }) }),
  fc.record({ content: fc.array(contentItem, { maxLength: 4 }), text }),
);
const head = fc.record(
  {
    type: fc.constant('tool_result'),
    group_id: word,
    id: word,
    call_id: wordOrNull,
    display_as: fc.array(fc.record({ type: word, content: json, more: json }), { maxLength: 2 }),
    subscription: fc.boolean(),
  },
  { requiredKeys: ['type', 'group_id', 'id'] },
);

const lmkitTypes = [
  'Success',
  'error',
  'CANCELED',
  'Timeout',
  'Denied',
  'Deferred',
  0,
  1,
  2,
  3,
  4,
  5,
  -1,
  1.5,
];
const lmkitPayloads = [
  '{"error": {"message": "...", "code": "OPTIONAL_CODE", "type": "OptionalType"}}',
  '{"canceled": {"reason": "...", "by": "user"}}',
  '{"timeout": {"durationMs": 30000}}',
  '{"denied": {"tool": "...", "reason": "..."}}',
];

const mcpBlock = fc.oneof(
  withExtras(fc.record({ type: fc.constant('text'), text })),
  withExtras(fc.record({ type: fc.constant('image'), data: base64, mimeType: word })),
  withExtras(fc.record({ type: fc.constant('resource_link'), uri: word, name: word })),
  withExtras(fc.record({ type: word.map(each => `x-${each}`) })),
);
const mcpStructured = fc.constantFrom(
  { error: { message: 'x', code: 'E' } },
  { canceled: { by: 'user' } },
  { timeout: { durationMs: 5 } },
  { denied: { tool: 'rm', reason: 'no' } },
);

/** Valid messages of each format, with unknown fields. */
export const NATIVES: Readonly<Record<DialectName, fc.Arbitrary<object>>> = {
  rap: withExtras(fc.tuple(head, body).map(([head, body]) => ({ ...head, ...body }))),
  session: withExtras(
    fc.oneof(
      fc.record(
        { kind: fc.constant('tool_result'), tool_req: request, result: fc.oneof(json, text) },
        { requiredKeys: ['kind', 'tool_req'] },
      ),
      fc.record({ kind: fc.constant('error_event'), error: text, origin: word, tool_req: request }),
      fc.record(
        { kind: word.map(each => `x-${each}`), tool_req: request, result: json },
        { requiredKeys: ['kind'] },
      ),
    ),
  ),
  lmkit: withExtras(
    fc.record(
      {
        Type: fc.oneof(fc.constantFrom(...lmkitTypes), word),
        ResultJson: fc.oneof(
          json.map(value => JSON.stringify(value)),
          text,
          fc.constantFrom(...lmkitPayloads),
        ),
        ToolCallId: wordOrNull,
        ToolName: wordOrNull,
      },
      { requiredKeys: ['Type', 'ResultJson'] },
    ),
  ),
  mcp: withExtras(
    fc.record(
      {
        content: fc.array(mcpBlock, { maxLength: 3 }),
        isError: fc.boolean(),
        structuredContent: fc.oneof(json, mcpStructured),
        _meta: object,
      },
      { requiredKeys: ['content'] },
    ),
  ),
};

const kind = <const Type extends string>(type: Type) => ({ type: fc.constant(type) });
const requiredKeys: ['type'] = ['type'];

const outcome: fc.Arbitrary<JudgedOutcome> = fc
  .oneof(
    fc.record(kind('success')),
    fc.record(
      {
        ...kind('error'),
        message: text,
        code: word,
        errorType: word,
        origin: word,
        data: fc.jsonValue().filter(data => data !== null),
      },
      { requiredKeys: ['type', 'message'] },
    ),
    fc.record({ ...kind('canceled'), reason: word, by: word }, { requiredKeys }),
    fc.record({ ...kind('timeout'), durationMs: fc.nat() }, { requiredKeys }),
    fc.record({ ...kind('denied'), tool: word, reason: word }, { requiredKeys }),
    fc.record({ ...kind('unknown'), raw: fc.constantFrom('Deferred', 7, -1) }),
  )
  .map(one => ({ ...one, basis: 'declared' }));

const call: fc.Arbitrary<Answer['call']> = fc.record(
  { id: wordOrNull, tool: word, args: object, thread: word, secondaryId: word },
  { requiredKeys: ['id'] },
);

const beside = fc.record(
  {
    images: fc.array(fc.record({ data: base64, mediaType: word }), { minLength: 1, maxLength: 2 }),
    'other content': fc.constant([{ type: 'audio', data: '', mimeType: 'audio/wav' }]),
    'structured content': json,
    meta: object,
    display: fc.array(fc.record({ type: word, content: json }), { maxLength: 2 }),
    subscription: fc.constant(true),
    'other fields': fc.constant({ extra: 1 }),
  },
  { requiredKeys: [] },
);

/** All kinds of answers, including those that no format produces. */
export const ANSWERS: fc.Arbitrary<Answer> = fc
  .record({ call, outcome, payload: fc.oneof(text, json), beside }, { requiredKeys: ['call', 'outcome'] })
  .map(structuredOnlyWhereItFits);

/** Excludes outcomes that replace structured content, which another test covers. */
function structuredOnlyWhereItFits(answer: Answer): Answer {
  if (!needsStructure(answer.outcome)) return answer;
  const { 'structured content': _, ...others } = answer.beside ?? {};
  return { ...answer, beside: others };
}

function needsStructure(given: JudgedOutcome): boolean {
  if (given.type === 'error')
    return given.code !== undefined || given.errorType !== undefined || given.data !== undefined;
  return given.type !== 'success' && given.type !== 'unknown';
}

/** Any JSON value, and values that are not JSON. */
export const ANYTHING: fc.Arbitrary<unknown> = fc.oneof(
  fc.jsonValue({ maxDepth: 4 }),
  fc.anything({
    withBigInt: true,
    withMap: true,
    withDate: true,
    withNullPrototype: true,
    withSparseArray: true,
  }),
);

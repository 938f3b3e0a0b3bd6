import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { jsonSketch } from '../../src/render/check-evidence.js';
import { parseJson, readJson } from '../../src/util/json.js';
import { jsonFault } from '../../src/util/json-fault.js';
import { formatLike, jsonParts, prettyJson, withStringMember } from '../../src/util/json-text.js';
import { scanJson } from '../../src/util/json-tokens.js';
import { anyCodePoint } from '../support/characters.js';
import { expectCpuBelow, leastCpuMs } from '../support/cpu-ms.js';

function tokensOf(text: string): [string, string][] {
  const tokens: [string, string][] = [];
  scanJson(text, (kind, from, to) => tokens.push([kind, text.slice(from, to)]));
  return tokens;
}

test('every kind of token, with its range', () => {
  expect(tokensOf(' {"a" : [1.5e3,\ttrue]}\r\n')).toEqual([
    ['open', '{'],
    ['string', '"a"'],
    ['colon', ':'],
    ['open', '['],
    ['scalar', '1.5e3'],
    ['comma', ','],
    ['scalar', 'true'],
    ['close', ']'],
    ['close', '}'],
  ]);
});

describe('ends of strings', () => {
  test.each([
    ['"a\\"b"', '"a\\"b"'],
    ['"a\\\\"', '"a\\\\"'],
    ['"\\\\\\""', '"\\\\\\""'],
    ['"{[,:]}"', '"{[,:]}"'],
    ['"no end', '"no end'],
    ['"no end\\"', '"no end\\"'],
  ])('%s', (text, token) => {
    expect(tokensOf(text)).toEqual([['string', token]]);
  });
});

test('the joined tokens are the JSON without whitespace', () => {
  fc.assert(
    fc.property(fc.json(), fc.constantFrom(undefined, 1, '\t'), (source, indent) => {
      const value: unknown = JSON.parse(source);
      const joined = tokensOf(JSON.stringify(value, null, indent)).map(([, token]) => token);
      expect(joined.join('')).toBe(JSON.stringify(value));
    }),
  );
});

test('scans any text to its end, and its tokens do not overlap', () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'"\\[]{},: 1a\n') }), text => {
      let end = 0;
      scanJson(text, (_, from, to) => {
        expect(from).toBeGreaterThanOrEqual(end);
        expect(to).toBeGreaterThan(from);
        end = to;
      });
      expect(end).toBeLessThanOrEqual(text.length);
    }),
  );
});

test('false stops the scan', () => {
  const seen: string[] = [];
  scanJson('[1,2]', kind => seen.push(kind) < 2);
  expect(seen).toEqual(['open', 'scalar']);
});

test.each([
  ['{"a":1,\n  "b":}', 2, 7, 'found "}" where a value is expected'],
  ['{"a":1,}', 1, 8, 'found "}" where a key is expected'],
  ['{"a":1', 1, 7, 'the text ends where , or } is expected'],
  ['[1 2]', 1, 4, 'found "2" where , or ] is expected'],
  ['[1}', 1, 3, 'found "}" where , or ] is expected'],
  ['{a:1}', 1, 2, 'found "a" where a key or } is expected'],
  ['{"a" 1}', 1, 6, 'found "1" where : is expected'],
  ['[01]', 1, 2, 'found "01" where a value or ] is expected'],
  ['["a\nb"]', 1, 2, 'found "\\"" where a value or ] is expected'],
  ['{} {}', 1, 4, 'found "{" where the end is expected'],
  ['', 1, 1, 'the text ends where a value is expected'],
])('%j: line %i, column %i', (text, line, column, message) => {
  expect(jsonFault(text)).toEqual({ line, column, message });
});

test('finds an error exactly if JSON.parse does', () => {
  const mutated = fc
    .tuple(fc.json(), fc.nat(), fc.constantFrom('', ',', '}', '"', ':', '[', '1', '\\', ' ', '\n', 'e'))
    .map(([json, at, piece]) => json.slice(0, at % json.length) + piece + json.slice((at % json.length) + 1));
  fc.assert(
    fc.property(fc.oneof(fc.json(), mutated), text => {
      expect(jsonFault(text) === null).toBe(parseJson(text).ok);
    }),
    { numRuns: 500 },
  );
});

test('depth uses no stack', () => {
  expect(jsonFault('['.repeat(1_000_000))).toMatchObject({ column: 1_000_001 });
});

const bytes = (text: string) => Buffer.from(text);
const nested = (depth: number) => '['.repeat(depth) + ']'.repeat(depth);
const notesOf = (text: string) => {
  const reading = readJson(bytes(text));
  return reading.ok ? reading.notes : [`failed: ${reading.reason}`];
};

test('reads whatever JSON.parse reads, without a note', () => {
  fc.assert(
    fc.property(fc.json(), source => {
      expect(parseJson(source)).toMatchObject({ ok: true, value: JSON.parse(source) });
    }),
  );
});

test('never throws for any text or bytes', () => {
  fc.assert(fc.property(fc.string({ unit: anyCodePoint }), text => void parseJson(text)));
  fc.assert(fc.property(fc.uint8Array(), text => void readJson(text)));
});

describe('row 18: depth', () => {
  test.each([[127], [128]])('%i levels are read', depth => {
    expect(readJson(bytes(nested(depth))).ok).toBe(true);
  });

  test.each([[129], [1_000_000]])('%i levels are refused', depth => {
    const reason = 'the JSON is nested deeper than 128 levels';
    expect(readJson(bytes(nested(depth)))).toEqual({ ok: false, reason });
    expect(readJson(bytes('{"a":'.repeat(depth)))).toEqual({ ok: false, reason });
  });

  test('brackets in strings do not count as depth, nor do siblings', () => {
    expect(readJson(bytes(JSON.stringify('['.repeat(500)))).ok).toBe(true);
    expect(readJson(bytes(`[${'[],'.repeat(500)}[]]`)).ok).toBe(true);
  });
});

describe('row 20: input that changes when it is parsed', () => {
  test.each([
    ['\uFEFF{}', 'the body starts with a byte-order mark'],
    ['{"a":1,"b":{"a":1},"a":2}', 'the key "a" occurs twice in one object; the last one is used'],
    ['[1e400]', 'the number 1e400 is too large to hold'],
    [`[-1${'0'.repeat(400)}]`, `the number -1${'0'.repeat(38)} is too large to hold`],
    ['[9007199254740993]', 'the number 9007199254740993 cannot be held exactly'],
    ['["\\ud83d"]', 'a string holds a lone surrogate (half of a UTF-16 pair)'],
    ['["\\uDE00\\uD83D"]', 'a string holds a lone surrogate (half of a UTF-16 pair)'],
  ])('%j: %s', (text, note) => {
    expect(notesOf(text)).toEqual([note]);
  });

  test.each([
    '{"a":{"x":1},"b":{"x":1}}',
    '[{"a":1},{"a":1}]',
    '["a","a"]',
    '{"a":"a"}',
    '["\\ud83d\\ude00"]',
    '[9007199254740991, 1.5, -0, 1e300, 1e-400]',
    '[true,false,null]',
  ])('%s needs no note', text => {
    expect(notesOf(text)).toEqual([]);
  });

  test('keys are equal in any escaped form', () => {
    expect(notesOf('{"a":1,"\\u0061":2}')).toHaveLength(1);
  });

  test('property: a key is noted exactly if its object has it twice, however many keys there are', () => {
    const keys = fc.array(fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é'), maxLength: 5 }), {
      size: '+2',
    });
    fc.assert(
      fc.property(fc.array(keys), objects => {
        const texts = objects.map(each => `{${each.map(key => `${JSON.stringify(key)}:1`).join(',')}}`);
        const isRepeated = objects.some(each => new Set(each).size < each.length);
        expect(notesOf(`[${texts.join(',')}]`).length > 0).toBe(isRepeated);
      }),
    );
    const many = Array.from({ length: 20_000 }, (_, n) => `"k${n}":${n}`).join(',');
    expect(notesOf(`{${many}}`)).toEqual([]);
    expect(notesOf(`{${many},"k7777":0}`)).toHaveLength(1);
  });

  test('an escaped backslash before "ud800" is not a surrogate', () => {
    expect(notesOf('["\\\\ud800"]')).toEqual([]);
    expect(notesOf('["\\\\ud83d\\ude00"]')).toHaveLength(1);
  });

  test('a large number that is represented exactly needs no note', () => {
    expect(notesOf('[9007199254740992,10000000000000000]')).toEqual([]);
  });

  test('a thousand problems cause only a few notes', () => {
    expect(notesOf(`[${Array.from({ length: 1_000 }, (_, i) => `${i}e400`)}]`)).toHaveLength(8);
  });
});

describe('row 21: invalid UTF-8', () => {
  test.each([
    ['a stray byte', [0xff]],
    ['an overlong form', [0xc0, 0xaf]],
    ['a surrogate in CESU-8', [0xed, 0xa0, 0x80]],
    ['a truncated character', [0xf0, 0x9f, 0x98]],
  ])('%s', (_, encoded) => {
    const body = Buffer.concat([bytes('{"a":"'), Buffer.from(encoded), bytes('"}')]);
    expect(readJson(body)).toEqual({ ok: false, reason: 'the body is not valid UTF-8' });
  });
});

test.each(['', ' ', '{', '{"a":}', '[1,]', 'undefined', '{"a":1}x', '\uFEFF\uFEFF{}'])(
  '%j is not JSON, and the reason says so',
  text => {
    expect(readJson(bytes(text))).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^not valid JSON: /),
    });
  },
);

test.each(['{"text": "ghp_0a1b2c3d', '{"text": "ghp_0a1b2c3d" x}', '["ghp_0a1b2c3d"}'])(
  'row 25: the reason for %s does not quote its surroundings',
  text => {
    const { reason } = { reason: '', ...readJson(bytes(text)) };
    expect(reason).toMatch(/^not valid JSON: .* is expected \(column \d+\)$/);
    expect(reason).not.toMatch(/ghp|3d/);
  },
);

describe('row 19: __proto__', () => {
  test('is an ordinary key', () => {
    const reading = readJson(bytes('{"__proto__":{"polluted":true}}'));
    expect(reading.ok && Object.keys(reading.value as object)).toEqual(['__proto__']);
    expect('polluted' in {}).toBe(false);
  });
});

describe('5 MB take linear time, with any structure', () => {
  const SIZE = 5_000_000;
  const TOKENS = 500_000;
  test.each([
    ['one string', () => `"${'a'.repeat(SIZE)}"`],
    ['backslashes', () => `"${'\\\\'.repeat(SIZE / 2)}"`],
    ['unterminated backslashes', () => `"${'\\'.repeat(SIZE)}`],
    ['escaped quotes', () => `"${'\\"'.repeat(SIZE / 2)}"`],
    ['surrogate escapes', () => `"${'\\ud83d'.repeat(SIZE / 6)}"`],
    ['numbers', () => `[${'1,'.repeat(TOKENS)}1]`],
    ['one number', () => '1'.repeat(SIZE)],
  ])('%s', async (_, text) => {
    const source = text();
    await expectCpuBelow(1_500, () => parseJson(source));
  });
});

test('row 15: very many keys take at most three times as long to read as to parse', async () => {
  const source = `{${Array.from({ length: 300_000 }, (_, n) => `"k${n.toString(36)}":${n % 10}`).join(',')}}`;
  const parsing = await leastCpuMs(3, () => JSON.parse(source));
  await expectCpuBelow(3 * parsing, () => parseJson(source));
});

const container = fc.oneof(fc.array(fc.jsonValue()), fc.dictionary(fc.string(), fc.jsonValue()));

test('is equivalent to the source, and formatted like JSON.stringify with two spaces', () => {
  fc.assert(
    fc.property(container, value => {
      const source = JSON.stringify(value);
      const pretty = prettyJson(source) ?? '';
      expect(JSON.parse(pretty)).toEqual(JSON.parse(source));
      expect(pretty).toBe(JSON.stringify(JSON.parse(source), null, 2));
    }),
  );
});

test('whitespace of the source has no effect', () => {
  fc.assert(
    fc.property(container, fc.constantFrom(1, 3, '\t', ' \n'), (value, indent) => {
      expect(prettyJson(JSON.stringify(value, null, indent))).toBe(prettyJson(JSON.stringify(value)));
    }),
  );
});

describe('row 20: tokens stay as written', () => {
  test.each([
    ['{"n":9007199254740993}', '{\n  "n": 9007199254740993\n}'],
    ['[1e400,-0,1.50]', '[\n  1e400,\n  -0,\n  1.50\n]'],
    ['["\\u0041\\/","\\ud83d"]', '[\n  "\\u0041\\/",\n  "\\ud83d"\n]'],
    ['{"a":1,"a":2}', '{\n  "a": 1,\n  "a": 2\n}'],
    ['{"a":{},"b":[]}', '{\n  "a": {},\n  "b": []\n}'],
  ])('%s', (source, pretty) => {
    expect(prettyJson(source)).toBe(pretty);
  });
});

test.each(['', '42', '"text"', 'null', 'plain text', '{not json}', '{"a":1} and more', '[1,]'])(
  '%j is not a JSON object or array',
  text => {
    expect(prettyJson(text)).toBeNull();
  },
);

test('a text of more than a million characters is not formatted', () => {
  expect(prettyJson(`["${'a'.repeat(999_990)}"]`)).not.toBeNull();
  expect(prettyJson(`["${'a'.repeat(1_000_000)}"]`)).toBeNull();
});

test('row 18: deeply nested input is not formatted, because its indents would fill the memory', () => {
  expect(prettyJson(`${'['.repeat(128)}${']'.repeat(128)}`)).not.toBeNull();
  expect(prettyJson(`${'['.repeat(2_000)}${']'.repeat(2_000)}`)).toBeNull();
});

describe('a part of a JSON text is found by its path', () => {
  test.each<[string, readonly PropertyKey[], string | null]>([
    ['{"a": 1.0, "b":{"c":[1,2]} }', ['b', 'c'], '[1,2]'],
    ['[12345678901234567890 , "x,]", {}]', [0], '12345678901234567890'],
    ['[12345678901234567890 , "x,]", {}]', [1], '"x,]"'],
    ['{"\\u0061":1,"a":2}', ['a'], '2'],
    ['{}', ['a'], null],
    ['"text"', ['0'], null],
  ])('%s %j', (text, path, part) => {
    expect(jsonParts(text)(path)).toBe(part);
  });

  test('like JSON.parse', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.constantFrom(0, 2), (value, indent) => {
        const text = JSON.stringify(value, null, indent);
        const part = jsonParts(text);
        for (const [key, member] of Object.entries(value))
          expect(JSON.parse(part([key]) ?? '')).toEqual(JSON.parse(JSON.stringify(member)));
      }),
    );
  });
});

test('a part is found by its path', () => {
  const part = jsonParts('{"calls":[{"result":1e2},{"result": 1.50 }]}');
  expect(part(['calls', 0, 'result'])).toBe('1e2');
  expect(part(['calls', 1, 'result'])).toBe('1.50');
  expect(part(['calls', 2, 'result'])).toBeNull();
  expect(part(['calls', 0, 'result', 'x'])).toBeNull();
  expect(part([])).toBe('{"calls":[{"result":1e2},{"result": 1.50 }]}');
});

describe('replacing a string in a JSON text', () => {
  test.each([
    ['{"a": "x", "b":1.0 }', '{"a": "new \\"one", "b":1.0 }'],
    ['\uFEFF { "a" :"x"}', '\uFEFF { "a" :"new \\"one"}'],
    ['{"a":"1","b":0,"a":[2] }', '{"a":"new \\"one","b":0,"a":"new \\"one" }'],
    ['{"\\u0061":"x\\\\"}', '{"\\u0061":"new \\"one"}'],
    ['{"b":{"a":"x"},"c":["a"]}', '{"b":{"a":"x"},"c":["a"]}'],
    ['{}', '{}'],
  ])('%s', (text, changed) => {
    expect(withStringMember(text, 'a', 'new "one')).toBe(changed);
  });
});

test('row 18: to write a value like a text costs hardly more if both are deep', async () => {
  const nested = (depth: number) => {
    let value: object = Array.from({ length: 100_000 }, (_, index) => index % 10);
    for (let level = 0; level < depth; level++) value = { a: value };
    return { value, text: JSON.stringify(value) };
  };
  const [flat, deep] = [nested(1), nested(120)];
  expect(formatLike(deep.text, deep.value)).toBe(deep.text);
  const cost = await leastCpuMs(5, () => formatLike(flat.text, flat.value));
  await expectCpuBelow(4 * cost, () => formatLike(deep.text, deep.value));
});

test('a value is written as in an earlier text, except for what differs', () => {
  const earlier =
    '{ "type":"tool_result",\n "text": "caf\\u00e9 {{", "n": 1.0, "n": 12345678901234567890, "id" : "old", "list": [ {"id":"old"}, 1e400 ] }';
  const value = {
    id: 'new',
    call_id: null,
    type: 'tool_result',
    text: 'café {{',
    n: Number('12345678901234567890'),
    list: [{ id: 'new' }, Number.POSITIVE_INFINITY],
  };
  expect(formatLike(earlier, value)).toBe(
    '{"type":"tool_result","text":"caf\\u00e9 {{","n":1.0,"n":12345678901234567890,"id":"new","list":[{"id":"new"},1e400]}',
  );
});

test.each([
  ['another shape', '{"a":[1]}', { a: 'x' }, '{"a":"x"}'],
  ['an object instead of a list', '{"a":[1]}', { a: { b: 1 } }, '{"a":{"b":1}}'],
  ['a longer list', '{"a":[1.0]}', { a: [1, 2] }, '{"a":[1.0,2]}'],
  ['a shorter list', '{"a":[1.0,2]}', { a: [1] }, '{"a":[1.0]}'],
  ['invalid JSON', '{"a":', { a: 1 }, '{"a":1}'],
  ['a missing member', '{"a":1,"b":2}', { b: 2 }, '{"b":2}'],
  ['a repeated key', '{"a":1,"a":2}', { a: 3 }, '{"a":1,"a":3}'],
  ['a key repeated with the same value', '{"a":1,"a":1}', { a: 3 }, '{"a":3,"a":3}'],
])('%s', (_, earlier, value, json) => {
  expect(formatLike(earlier, value)).toBe(json);
});

test.each<[string, unknown, string]>([
  ['short JSON unchanged', { a: [1, 'b', null, true], c: {} }, '{"a":[1, "b", null, true], "c":{}}'],
  ['a long text cut', { a: 'x'.repeat(100) }, `{"a":"${'x'.repeat(32)}…"}`],
  ['a long list counted', [1, 2, 3, 4, 5, 6], '[1, 2, 3, 4, … 2 more]'],
  ['deep values as a placeholder', { a: { b: { c: { d: 1 } } } }, '{"a":{"b":{"c":{…}}}}'],
  ['an empty object at any depth', { a: { b: { c: {} } } }, '{"a":{"b":{"c":{}}}}'],
])('%s', (_, value, sketch) => {
  expect(jsonSketch(value)).toBe(sketch);
});

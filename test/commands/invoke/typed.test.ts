import { describe, expect, test } from 'vitest';
import { typed } from '../../../src/commands/invoke/arguments.js';

const as = (property: unknown, text: string) => typed('key', text, { properties: { key: property } });

describe('a word becomes the type that the schema wants', () => {
  test.each([
    [{ type: 'string' }, '42', '42'],
    [{ type: 'integer' }, '42', 42],
    [{ type: 'integer' }, '-0', -0],
    [{ type: 'number' }, '1.5e3', 1_500],
    [{ type: 'boolean' }, 'true', true],
    [{ type: 'boolean' }, 'false', false],
    [{ type: 'null' }, 'null', null],
    [{ type: 'array' }, '[1,"a"]', [1, 'a']],
    [{ type: 'object' }, '{"a":1}', { a: 1 }],
  ])('%j, %s', (property, text, value) => {
    expect(as(property, text)).toEqual(value);
  });
});

describe('a word that does not fit stays as it is: validation reports it', () => {
  test.each([
    [{ type: 'integer' }, 'many'],
    [{ type: 'integer' }, '0x10'],
    [{ type: 'integer' }, '007'],
    [{ type: 'integer' }, ' 1'],
    [{ type: 'integer' }, ''],
    [{ type: 'number' }, 'Infinity'],
    [{ type: 'number' }, 'NaN'],
    [{ type: 'number' }, '1e999'],
    [{ type: 'boolean' }, 'yes'],
    [{ type: 'null' }, 'nil'],
    [{ type: 'array' }, '{"a":1}'],
    [{ type: 'array' }, '[1'],
    [{ type: 'object' }, '[1]'],
    [{ type: 'object' }, 'null'],
    [{ type: 'unheard-of' }, '1'],
  ])('%j, %j', (property, text) => {
    expect(as(property, text)).toBe(text);
  });
});

describe('several types: the narrow one first', () => {
  test.each([
    [{ type: ['string', 'integer'] }, '42', 42],
    [{ type: ['string', 'integer'] }, 'x', 'x'],
    [{ type: ['string', 'null'] }, 'null', null],
    [{ enum: ['a', 1, true, null] }, 'a', 'a'],
    [{ enum: ['a', 1, true, null] }, '1', 1],
    [{ enum: ['a', 1, true, null] }, 'true', true],
    [{ enum: ['1', '2'] }, '1', '1'],
    [{ enum: [[1], { a: 1 }] }, '[1]', [1]],
    [{ const: 3 }, '3', 3],
    [{ type: 'string', enum: ['1'] }, '1', '1'],
    [{ anyOf: [{ type: 'string' }, { type: 'boolean' }] }, 'true', true],
    [{ oneOf: [{ type: 'null' }, { anyOf: [{ type: 'number' }] }] }, '4', 4],
  ])('%j, %s', (property, text, value) => {
    expect(as(property, text)).toEqual(value);
  });
});

describe('what the schema says elsewhere in itself', () => {
  const $defs = { mode: { enum: [1, 2] }, 'a/b': { type: 'boolean' }, loop: { $ref: '#/$defs/loop' } };
  const within = (property: object, text: string) =>
    typed('key', text, { $defs, properties: { key: property } });

  test.each([
    [{ $ref: '#/$defs/mode' }, '2', 2],
    [{ $ref: '#/$defs/a~1b' }, 'true', true],
    [{ allOf: [{ $ref: '#/$defs/mode' }] }, '2', 2],
    [{ anyOf: [{ $ref: '#/$defs/a~1b' }, { type: 'null' }] }, 'null', null],
    [{ $ref: '#/$defs/loop' }, '2', '2'],
    [{ $ref: '#/$defs/none' }, '2', '2'],
    [{ $ref: '#/$defs/constructor/name' }, '2', '2'],
    [{ $ref: 'http://127.0.0.1:1/schema' }, '2', '2'],
  ])('%j, %s', (property, text, value) => {
    expect(within(property, text)).toEqual(value);
  });

  test('row 22: references that come back many times over are followed once', () => {
    const anyOf = Array.from({ length: 25 }, () => ({ $ref: '#/properties/key' }));
    const start = performance.now();
    expect(as({ anyOf }, '2')).toBe('2');
    expect(performance.now() - start).toBeLessThan(500);
  });
});

describe('where the schema says nothing it is a string', () => {
  test.each([
    ['no schema', null],
    ['no properties', {}],
    ['an unknown key', { properties: { other: { type: 'integer' } } }],
    ['a schema that is true', { properties: { key: true } }],
    ['an empty schema', { properties: { key: {} } }],
    ['properties that are not one', { properties: [] }],
  ])('%s', (_, schema) => {
    expect(typed('key', '42', schema)).toBe('42');
  });

  test.each(['__proto__', 'constructor', 'toString'])('row 19: %s is an unknown key', key => {
    expect(typed(key, '42', { properties: {} })).toBe('42');
  });
});

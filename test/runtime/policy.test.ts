import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { decide, type Policy, policySchema } from '../../src/runtime/policy.js';

const policy = (fields: object): Policy => policySchema.parse({ version: 1, ...fields });
const allows = (fields: object, tool: Parameters<typeof decide>[1]) => decide(policy(fields), tool).allowed;
const named = (name: string) => ({ name });

describe('deny first, then allow, then the default', () => {
  test.each([
    [{}, true],
    [{ deny: ['edit'] }, false],
    [{ deny: ['edit'], allow: ['edit'] }, false],
    [{ allow: ['edit'] }, true],
    [{ allow: ['other'] }, false],
    [{ allow: ['other'], default: 'allow' }, true],
    [{ deny: ['other'] }, true],
    [{ deny: ['other'], default: 'deny' }, false],
    [{ allow: [] }, false],
  ])('%j', (fields, allowed) => {
    expect(allows(fields, named('edit'))).toBe(allowed);
  });
});

describe('wildcards in names', () => {
  test.each([
    ['edit_file', 'edit_file', true],
    ['edit_file', 'edit_files', false],
    ['edit_file', 'Edit_file', false],
    ['edit_*', 'edit_file', true],
    ['edit_*', 'edit_', true],
    ['*_file', 'edit_file', true],
    ['*', 'anything', true],
    ['**', 'anything', true],
    ['e*_f*e', 'edit_file', true],
    ['e*f*x', 'edit_file', false],
    ['ab*ba', 'aba', false],
    ['a*b*b', 'ab', false],
    ['edit.file', 'edit_file', false],
  ])('%s and %s: %s', (pattern, name, fits) => {
    expect(allows({ deny: [pattern] }, named(name))).toBe(!fits);
  });

  test('match like the equivalent regular expression', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b'), maxLength: 8 });
    const pattern = fc.string({ unit: fc.constantFrom('a', 'b', '*'), minLength: 1, maxLength: 8 });
    fc.assert(
      fc.property(pattern, letters, (wildcard, name) => {
        const expected = new RegExp(`^${wildcard.replaceAll('*', '.*')}$`).test(name);
        expect(allows({ deny: [wildcard] }, named(name))).toBe(!expected);
      }),
    );
  });

  test('with many stars match in linear time', () => {
    expect(allows({ deny: [`${'*a'.repeat(60)}b`] }, named('a'.repeat(128)))).toBe(true);
  });
});

describe('annotations', () => {
  test.each([
    ['destructive', { destructive: true }, true],
    ['destructive', { destructive: false }, false],
    ['destructive', {}, false],
    ['requiresAuth', { requiresAuth: 'github' }, true],
    ['requiresAuth', { requiresAuth: '' }, false],
    ['x-acme-risk', { 'x-acme-risk': 'high' }, true],
    ['x-toString', {}, false],
  ])('%s of %j: %s', (annotation, annotations, fits) => {
    expect(allows({ deny: [{ annotation }] }, { name: 'edit', annotations })).toBe(!fits);
  });

  test('never match an operation without annotations', () => {
    expect(allows({ allow: [{ annotation: 'readOnly' }] }, named('edit'))).toBe(false);
  });

  test('must match together with the name', () => {
    const deny = [{ name: 'db_*', annotation: 'destructive' }];
    expect(allows({ deny }, { name: 'db_drop', annotations: { destructive: true } })).toBe(false);
    expect(allows({ deny }, { name: 'db_list', annotations: {} })).toBe(true);
    expect(allows({ deny }, { name: 'rm', annotations: { destructive: true } })).toBe(true);
  });
});

test.each([
  [['rm'], 'the policy denies rm'],
  [[{ name: 'r*' }], 'the policy denies r*'],
  [[{ annotation: 'destructive' }], 'the policy denies tools annotated destructive'],
  [[{ name: 'r*', annotation: 'destructive' }], 'the policy denies r* annotated destructive'],
  [[{ name: 'rm', reason: 'ask ops first' }], 'ask ops first'],
])('%j is reported as the reason', (deny, reason) => {
  const tool = { name: 'rm', annotations: { destructive: true } };
  expect(decide(policy({ deny }), tool)).toEqual({ allowed: false, reason });
});

test('a rule that names the tool is distinguished from the default', () => {
  expect(decide(policy({ allow: ['r*', 'rm'] }), named('rm'))).toEqual({ allowed: true, isNamed: true });
  expect(decide(policy({ allow: ['r*'] }), named('rm'))).toEqual({ allowed: true, isNamed: false });
  for (const silent of [policy({}), null])
    expect(decide(silent, named('rm'))).toEqual({ allowed: true, isNamed: false });
});

import { PassThrough, Readable } from 'node:stream';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { Consent, type ToolInfo } from '../../src/commands/consent.js';
import { Prompts, type Terminal } from '../../src/commands/terminal.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { errorOf } from '../support/failing.js';

const policy = (fields: object, yes = false) => new Consent({ version: 1, ...fields }, yes);
const allows = (fields: object, tool: ToolInfo) => policy(fields, true).judge(tool) === 'allowed';
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
])('%j is reported as the reason, also with --yes', (deny, reason) => {
  const tool = { name: 'rm', annotations: { destructive: true } };
  expect(policy({ deny }, true).judge(tool)).toEqual({ by: 'policy', reason });
});

const TOOL: ToolInfo = { name: 'delete_all', annotations: { destructive: true } };

/** Asks whether a tool may be called; null without an answer. */
async function asking(
  answer: string | null,
  { isTTY = true, signal = new AbortController().signal, of = policy({}), tool = TOOL } = {},
) {
  const stdin = Object.assign(new PassThrough(), { isTTY });
  const stderr = Object.assign(new PassThrough(), { isTTY });
  if (answer !== null) stdin.end(`${answer}\n`);
  const terminal = { stdin, stderr, env: {}, interrupt: () => {} } as unknown as Terminal;
  const denial = await of.denialOf(
    tool,
    { path: 'a\u202e' },
    new Prompts({ terminal, signal, clean: text => text }),
  );
  return { denial, question: String(stderr.read() ?? '') };
}

describe('a destructive tool', () => {
  test.each(['y', ' YES '])('%j means yes', async answer => {
    const { denial, question } = await asking(answer);
    expect(denial).toBeNull();
    expect(question).toContain('delete_all({"path":"a<U+202E>"}) is marked destructive. Call it? [y/N]');
  });

  test.each(['', 'yes please'])('%j means no', async answer => {
    expect((await asking(answer)).denial).toEqual({ by: 'person', reason: 'the user said no' });
  });

  test('is not called after a signal, or without a terminal, where the hint is --yes', async () => {
    expect((await asking(null, { signal: AbortSignal.abort() })).denial).not.toBeNull();
    expect(await errorOf(() => asking('y', { isTTY: false }))).toMatchObject({
      code: 'decision-needed',
      hint: 'Add --yes to call it without a question, or a --policy that allows it by name.',
    });
  });

  test.each<[string, ToolInfo, Consent]>([
    ['--yes', TOOL, policy({}, true)],
    ['a tool that is not destructive', { name: 'read', annotations: { destructive: false } }, policy({})],
  ])('%s needs no question', async (_, tool, of) => {
    expect(await asking(null, { isTTY: false, tool, of })).toEqual({ denial: null, question: '' });
  });

  test.each([{ default: 'allow' }, { allow: ['*'] }, { allow: [{ annotation: 'destructive' }] }])(
    '%j is not a full name: the user is asked',
    async fields => {
      expect((await asking('n', { of: policy(fields) })).question).toContain('is marked destructive');
    },
  );
});

describe('a policy file', () => {
  const read = (path: string, input = '') =>
    Consent.read(
      { policy: path },
      { stdin: Readable.from([Buffer.from(input)]) as unknown as Terminal['stdin'] },
    );

  test.each([
    'version: 1\ndeny:\n  - delete_*\n  - { annotation: destructive, reason: ask ops }\n',
    '{"version":1,"deny":["delete_*",{"annotation":"destructive","reason":"ask ops"}]}',
  ])('is YAML or JSON: %j', async text => {
    const consent = await read('-', text);
    expect(consent.judge(TOOL)).toEqual({ by: 'policy', reason: 'the policy denies delete_*' });
    expect(consent.judge({ ...TOOL, name: 'rm' })).toEqual({ by: 'policy', reason: 'ask ops' });
    expect(consent.usesAnnotations).toBe(true);
  });

  test.each([
    ['version: 1\ndenny: [a]\n', ':2:1 $.denny: unknown field. Did you mean "deny"?'],
    ['version: 2\n', ':1:1 $.version: '],
    ['version: 1\ndeny: [{ reason: x }]\n', ':2:8 $.deny[0]: needs a name or an annotation'],
    ['version: 1\ndeny: [\n', ':3:1 '],
    ['', 'policy.yaml:1:1 the file is empty; it needs at least `version: 1`'],
  ])('with an error reports its place: %j', async (text, fault) => {
    await using folder = await temporaryFolder();
    const { code, faults } = await errorOf(async () => read(await folder.write('policy.yaml', text)));
    expect(code).toBe('unreadable-file');
    expect(faults[0]).toContain(fault);
  });
});

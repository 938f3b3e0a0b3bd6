import { describe, expect, test } from 'vitest';
import { displayLine, parseDisplayScript } from '../../src/util/display-script.js';
import { expectCpuBelow } from '../support/cpu-ms.js';

const ARGS = {
  path: ' src/main.rs ',
  lines: 3,
  force: true,
  note: null,
  tags: ['a', 'b'],
  at: { host: 'db', port: 5432 },
};
const line = (script: string, args: Record<string, unknown> = ARGS) => displayLine(script, args);

describe('the display line of a call', () => {
  test.each([
    ['"Edit " + args.path', 'Edit  src/main.rs '],
    ['args["path"].to_upper()', ' SRC/MAIN.RS '],
    ['let p = args.path; p.trim(); p', 'src/main.rs'],
    ['"n=" + (args.lines - 1 + 4)', 'n=6'],
    ['if args.force { "Force" } else { "Try" }', 'Force'],
    ['if args.lines > 5 { "many" } else if args.lines == 3 { "three" } else { "few" }', 'three'],
    ['if args.missing == () { "none" } else { args.missing }', 'none'],
    ['if args.note == () || args.note.len() > 0 { "no note" } else { "x" }', 'no note'],
    ['let s = "Run"; if args.lines != 0 { s += " " + args.lines; } s', 'Run 3'],
    ['args.path.split("/")[1]', 'main.rs '],
    ['let parts = split(args.path, "/"); parts[-1]', 'main.rs '],
    ['args.path.sub_string(1, 3)', 'src'],
    ['sub_string(args.path, -4)', '.rs '],
    ['if args.path.contains("main") && !contains(args.path, "x") { "main" } else { "" }', 'main'],
    ['"len " + len(args.path) + args.path.len', 'len 1313'],
    ['// first\n/* a comment */ "x\\n\\u00e9\\"" // last', 'x\né"'],
  ])('%s', (script, shown) => {
    expect(line(script)).toBe(shown);
  });

  test('counts characters as readers do, not as UTF-16', () => {
    expect(line('args.x.sub_string(1, 1) + args.x.len()', { x: 'a😀b' })).toBe('😀3');
  });
});

const MANY = Object.fromEntries([
  ...Array.from({ length: 100_000 }, (_, n) => [`k${n}`, n]),
  ['x', 'a'.repeat(90_000)],
]);

describe('no line and no error', () => {
  test.each([
    ['a value of another type', '1 + 2'],
    ['an empty text', '" "'],
    ['nothing', ''],
    ['a statement', '"x";'],
    ['a loop', 'let s = ""; for t in args.tags { s += t; } s'],
    ['a function', 'fn f() { "x" } f()'],
    ['an unknown function', 'args.path.reverse()'],
    ['an unknown name', 'argz.path'],
    ['a member of ()', 'args.missing.name'],
    ['an index out of range', 'args.tags[2]'],
    ['multiplied texts', '"a" * 2'],
    ['an invalid condition', 'if args.path { "x" } else { "y" }'],
    ['an object as text', '"x" + args.at'],
    ['a prototype', 'args.constructor.name'],
    ['not a script', '"Edit '],
  ])('%s', (_, script) => {
    expect(line(script)).toBeNull();
  });

  test.each([
    ['a text that doubles repeatedly', `let s = "ab"; ${'s = s + s; '.repeat(60)}s`],
    ['deep parentheses', `${'('.repeat(5_000)}"x"${')'.repeat(5_000)}`],
    ['many signs', `${'!'.repeat(5_000)}true`],
    ['a long sum', `"x"${' + "y"'.repeat(3_000)}`],
    ['a long script', `"${'x'.repeat(100_000)}"`],
    ['many else', `${'if false { "" } else '.repeat(700)}{ "x" }`],
    ['much work', `${'args.x.split("a");'.repeat(900)}"x"`],
    ['many keys', `${'args.len();'.repeat(1_000)}"x"`],
  ])('%s ends soon', async (_, script) => {
    await expectCpuBelow(2_000, () => expect(line(script, MANY)).toBeNull());
  });
});

describe('a script with a syntax error', () => {
  test.each([
    ['"Edit ', 'unterminated string in line 1'],
    ['let x = 1;\nif x { "a" ', 'unexpected end in line 2'],
    ['args.path +', 'unexpected end in line 1'],
    ['args.path args.lines', 'unexpected args in line 1'],
    ['"a" + ]', 'unexpected ] in line 1'],
    ['"\\q"', 'unknown escape \\q in line 1'],
    ['args.path # 1', 'unexpected "#" in line 1'],
  ])('%s', (script, reason) => {
    expect(parseDisplayScript(script)).toEqual({ kind: 'invalid', reason });
  });

  test.each([
    'fn f() {}',
    'let f = |x| x + 1; f',
    '#{a: 1}',
    '[1, 2][0]',
    'switch x { 1 => "a" }',
    'a..b',
    'return 1',
    '2 * 3',
    'a?.b ?? 1',
  ])('%s is unsupported, which is not an error', script => {
    expect(parseDisplayScript(script)).toEqual({ kind: 'unsupported' });
  });
});

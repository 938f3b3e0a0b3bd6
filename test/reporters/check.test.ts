import { parse, type TestCase, type TestSuites } from 'junit2json';
import { describe, expect, test } from 'vitest';
import type { ConcernedCall } from '../../src/check/concerned.js';
import { conformanceOf } from '../../src/check/conformance.js';
import type { Check } from '../../src/check/report.js';
import { REQUIREMENTS } from '../../src/check/rules/index.js';
import { shareableRun } from '../../src/render/check-evidence.js';
import { CHECK_FORMATS } from '../../src/render/outputs/check.js';
import { createRedactor } from '../../src/util/redact.js';
import { unsafeIn } from '../e2e/support/text.js';
import { publishedSchema } from '../support/published-schema.js';
import { GREEN, HOSTILE, LOOK, LOSSY, MIXED, TOKEN } from './check-reports.js';

describe('secrets of calls', () => {
  const SECRET = 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f';
  /** The part of it that a screen would show. */
  const PIECE = SECRET.slice(0, 8);

  const rowWith = (call: ConcernedCall) =>
    conformanceOf([
      {
        id: 'TOOL-ID',
        side: 'tool',
        level: 'MUST',
        status: 'fail',
        reason: 'it is another',
        events: [],
        calls: [call],
      },
    ]);

  const caseWith = (call: ConcernedCall) =>
    conformanceOf(
      [],
      [
        {
          place: 'c.yaml:5',
          operation: 'list',
          status: 'fail',
          reason: 'no result',
          events: [],
          calls: [call],
        },
      ],
    );

  const RUNS = [
    ['the id of a call of a rule', rowWith({ operation: 'list', id: SECRET })],
    ['the operation of a call of a rule', rowWith({ operation: SECRET, id: 'a' })],
    ['the id of a call of a case', caseWith({ operation: 'list', id: SECRET })],
    ['the operation of a call of a case', caseWith({ operation: SECRET, id: 'a' })],
  ] as const;

  const redactor = createRedactor([SECRET]);

  describe.each(Object.entries(CHECK_FORMATS))('threats, row 25: %s', (_, format) => {
    test.each(RUNS)('hides a secret that is %s', (_name, run) => {
      expect(format({ ...MIXED, run }, LOOK)).toContain(PIECE);
      const text = format({ ...MIXED, run: shareableRun(run, redactor) }, LOOK);
      expect(text).not.toContain(PIECE);
      expect(text).toContain('redacted');
    });
  });
});

test('a fault that explains others comes first', () => {
  const failed = (id: Check['id']): Check => ({
    id,
    side: 'tool',
    level: 'MUST',
    status: 'fail',
    reason: `reason of ${id}`,
    events: [],
  });
  const run = conformanceOf([failed('TOOL-ALWAYS'), failed('TOOL-ISOLATE')]);
  const text = CHECK_FORMATS.human({ ...GREEN, run }, LOOK);
  expect(text.match(/^✗ TOOL-\S+/gm)).toEqual(['✗ TOOL-ISOLATE', '✗ TOOL-ALWAYS']);
});

test('row 24: every format is safe to print', () => {
  for (const format of Object.values(CHECK_FORMATS)) expect(unsafeIn(format(LOSSY, LOOK))).toEqual([]);
});

describe('github', () => {
  /** What acts on a terminal, or is a workflow command, is shown and broken. */
  const SHOWN = HOSTILE.replace('\u001b', '␛').replace('::error', '<U+003A>:error');

  /** As the runner of GitHub Actions reads a line: `::name key=value,…::message`, each part unescaped. */
  function readCommand(line: string) {
    const [, name, properties = '', message = ''] = /^::([a-z]+) ([^\n]*?)::(.*)$/.exec(line) ?? [];
    const entries = properties
      .split(',')
      .map(each => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]);
    const plain = Object.fromEntries(entries.map(([key, value = '']) => [key, unescaped(value, true)]));
    return { name, properties: plain, message: unescaped(message, false) };
  }

  function unescaped(text: string, isProperty: boolean): string {
    const plain = isProperty ? text.replaceAll('%3A', ':').replaceAll('%2C', ',') : text;
    return plain.replaceAll('%0D', '\r').replaceAll('%0A', '\n').replaceAll('%25', '%');
  }

  const text = CHECK_FORMATS.github(MIXED, LOOK);
  const commands = text.trimEnd().split('\n').map(readCommand);
  const titled = (title: RegExp) => commands.find(({ properties }) => title.test(properties['title'] ?? ''));

  test('keeps untrusted text within its command', () => {
    expect(text.trimEnd().split('\n')).toHaveLength(8);
    expect(titled(/TOOL-FALLBACK/)?.message).toBe(`${SHOWN}\nto do: ${REQUIREMENTS['TOOL-FALLBACK'].advice}`);
    expect(unsafeIn(text)).toEqual([]);
  });

  test('writes an id on one line of the message', () => {
    const { run } = MIXED;
    const calls = [{ operation: HOSTILE, id: HOSTILE }];
    const checks = run.checks.map(row => (row.id === 'TOOL-ID' ? { ...row, calls } : row));
    const hostile = CHECK_FORMATS.github({ ...MIXED, run: { ...run, checks } }, LOOK)
      .split('\n')
      .map(readCommand);
    const { message = '' } = hostile.find(({ properties }) => properties['title'] === 'TOOL-ID (MUST)') ?? {};
    const line = SHOWN.replace('\n', '␊');
    expect(message.split('\n').slice(1, 3)).toEqual([`call: ${line} · ${line}`, 'expected: call_abc123']);
  });
});

describe('human', () => {
  const text = CHECK_FORMATS.human(MIXED, LOOK);
  const lines = text.split('\n');

  describe.each([40, 60, 80])('on %i columns', width => {
    const rows = CHECK_FORMATS.human(MIXED, { ...LOOK, width }).split('\n');
    const words = (of: string) => of.split(/\s+/);

    test('no row is too wide, and no empty rows are added', () => {
      expect(rows.filter(row => row.length > width)).toEqual([]);
      expect(rows.filter(row => row === '')).toHaveLength(lines.filter(line => line === '').length);
    });

    test('continuation rows are indented under their text', () => {
      const at = rows.findIndex(row =>
        row.startsWith(`    to do     ${words(REQUIREMENTS['TOOL-ID'].advice)[0]}`),
      );
      expect(rows[at + 1]).toMatch(/^ {14}\S/);
    });
  });

  test('row 24: contains no raw control characters, and no line starts a workflow command', () => {
    expect(unsafeIn(text)).toEqual([]);
    expect(lines.filter(line => line.trimStart().startsWith('::'))).toEqual([]);
  });

  test('row 25: does not contain the token of a callback URL', () => {
    expect(text).not.toContain(TOKEN);
  });
});

describe('json', () => {
  const text = CHECK_FORMATS.json(MIXED, LOOK);
  const report = JSON.parse(text);

  test('failures contain shortened messages without secrets', () => {
    expect(report.checks[2].evidence).toEqual([
      {
        event: 2,
        method: 'POST',
        url: '/callback/token',
        operation: 'edit_file',
        end: '200',
        endedBy: null,
        ms: expect.any(Number),
        request: [{ place: null, text: expect.stringContaining('"id":"other"') }],
        response: [],
      },
    ]);
    expect(report.checks[0]).not.toHaveProperty('evidence');
    expect(text).not.toContain(TOKEN);
    expect(report.durationMs).toBeGreaterThan(0);
  });

  test('row 24: is safe to print on a terminal', () => {
    expect(unsafeIn(text)).toEqual([]);
  });
});

describe('junit', () => {
  /** As a maintained reader of JUnit's XML understands it. */
  async function read(xml: string): Promise<TestSuites> {
    const suites = await parse(xml);
    if (!suites || !('testsuite' in suites)) throw new Error('no test suites');
    return suites;
  }

  const xml = CHECK_FORMATS.junit(MIXED, LOOK);

  async function casesOf(suite: string): Promise<readonly TestCase[]> {
    const { testsuite = [] } = await read(xml);
    return testsuite.find(({ name }) => name === suite)?.testcase ?? [];
  }

  async function caseOf(id: string): Promise<TestCase> {
    const found = (await casesOf('check.tool')).find(({ name }) => name?.startsWith(`${id} `));
    if (!found) throw new Error(`no test case for ${id}`);
    return found;
  }

  test('the total time is that of the run; the time of a test is that of its events, in seconds', async () => {
    const { testsuite = [], time } = await read(xml);
    expect(time).toBe(0.009);
    expect(testsuite.map(suite => [suite.name, suite.time])).toEqual([
      ['check.tool', 0.009],
      ['check.runtime', 0],
      ['check.cases', 0.009],
    ]);
    expect([(await caseOf('TOOL-ACK')).time, (await caseOf('TOOL-CHOICE')).time]).toEqual([0.009, 0]);
    expect((await casesOf('check.cases')).map(each => each.time)).toEqual([0.009, 0, 0]);
  });

  test('rows 24 and 25: contains no raw control characters and no tokens', () => {
    expect(unsafeIn(xml)).toEqual([]);
    expect(xml).not.toContain(TOKEN);
  });
});

describe('markdown', () => {
  const text = CHECK_FORMATS.markdown(MIXED, LOOK);

  test('escapes untrusted text', () => {
    const row = text.split('\n').find(each => each.startsWith('| TOOL-FALLBACK')) ?? '';
    expect(row).toContain('evil&#124;&#60;b&#62;␊&#60;U+003A&#62;:error::100%, "x": &#96;y&#96;');
    expect(unsafeIn(text)).toEqual([]);
  });
});

describe('JSON Schema', () => {
  const { faultsOf } = publishedSchema('check-report');

  test.each([
    ['in which everything happens', MIXED],
    ['in which everything passes', GREEN],
    ['with an incomplete recording', LOSSY],
  ])('accepts the report of a run %s', (_, input) => {
    expect(faultsOf(JSON.parse(CHECK_FORMATS.json(input, LOOK)))).toEqual([]);
  });

  describe('rejects', () => {
    test.each<[string, object]>([
      ['a member that is not in it', { more: 1 }],
      ['an unknown verdict', { verdict: 'green' }],
      ['a row without its id', { checks: [{ status: 'pass' }] }],
      ['no durations', { durationMs: undefined, probes: undefined }],
    ])('%s', (_, change) => {
      const report = { ...JSON.parse(CHECK_FORMATS.json(MIXED, LOOK)), ...change };
      expect(faultsOf(JSON.parse(JSON.stringify(report)))).not.toEqual([]);
    });
  });
});

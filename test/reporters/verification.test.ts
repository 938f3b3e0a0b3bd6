import { execFileSync } from 'node:child_process';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { ReportFormat } from '../../src/render/outputs/report-formats.js';
import {
  VERIFICATION_FORMATS,
  type Verified,
  type VerifiedRun,
  verifiedMock,
  verifiedSessions,
} from '../../src/render/outputs/verification.js';
import type { SessionProblem, VerificationReport } from '../../src/verification/report.js';
import { unsafeIn } from '../e2e/support/text.js';
import { anyCodePoint } from '../support/characters.js';

const RUN: VerifiedRun = { program: 'protocol-cli/test', command: null, ms: 2_500 };
const KILLED: VerifiedRun = { ...RUN, command: { status: 137, ms: 2_250 } };
const ms = { invocations: 4, callbacks: 30 };

const formatted = (format: ReportFormat, verified: Verified) =>
  VERIFICATION_FORMATS[format](verified, { level: 0, isQuiet: false });

/** The report of a mock without a command. */
const reported = (format: ReportFormat, report: VerificationReport, run = RUN) =>
  formatted(format, verifiedMock(report, run));

const none = { count: 0, examples: [] };

const FINE: VerificationReport = {
  ok: true,
  calls: 3,
  fixtures: [
    { id: 'pay', place: 'tool.yaml:3', calls: 3, ms: 120, status: 'used' },
    { id: 'spare', place: 'tool.yaml:9', calls: 0, ms: 0, status: 'not-needed', expected: { min: 0 } },
  ],
  unmatched: none,
  undelivered: none,
  ms,
  problems: [],
};

const who = { operation: 'pay', id: 'c1', group_id: 'thread_a' };

const BROKEN: VerificationReport = {
  ok: false,
  calls: 12,
  fixtures: [
    { id: 'pay', place: 'tool.yaml:3', calls: 1, ms: 0, status: 'used' },
    { id: 'tool.json#2', place: 'tool.json#2', calls: 0, ms: 0, status: 'unused' },
    { id: 'ship', place: 'tool.yaml:9', calls: 0, ms: 0, status: 'unused', expected: { min: 2, max: 4 } },
    { id: 'few', place: 'tool.yaml:12', calls: 1, ms: 0, status: 'too-few', expected: { min: 2 } },
    { id: 'many', place: 'tool.yaml:15', calls: 3, ms: 0, status: 'too-many', expected: { max: 2 } },
    { id: 'once', place: 'tool.yaml:18', calls: 2, ms: 0, status: 'too-many', expected: { min: 1, max: 1 } },
  ],
  unmatched: {
    count: 4,
    examples: [
      { ...who, nearest: { fixture: 'ship', path: '$.operation', reason: 'is "pay", not "ship"' } },
      { ...who, reason: 'unknown operation "pay".' },
      { operation: null, id: null, group_id: null, reason: 'the invocation is malformed: not valid JSON' },
      who,
    ],
  },
  undelivered: {
    count: 102,
    examples: [
      { operation: 'pay', id: 'c1', url: 'http://127.0.0.1:9/cb', type: 'tool_result', why: 'answered 404' },
      { operation: 'pay', id: 'c2', url: null, why: 'still pending' },
    ],
  },
  ms,
  problems: [],
};

/** Every field holds what acts on a terminal and what means something in XML. */
function hostile(text: string): VerificationReport {
  const call = { operation: text, id: text, group_id: text };
  return {
    ok: false,
    calls: 1,
    fixtures: [{ id: text, place: `${text}:3`, calls: 0, ms: 0, status: 'unused' }],
    unmatched: { count: 1, examples: [{ ...call, nearest: { fixture: text, path: text, reason: text } }] },
    undelivered: { count: 1, examples: [{ ...call, url: text, type: text, why: text }] },
    ms,
    problems: [text],
  };
}

describe('human', () => {
  test('prints a line for each problem, and a summary', () => {
    expect(reported('human', BROKEN).split('\n')).toEqual([
      '✗ fixture tool.json#2 was not used',
      '✗ fixture ship (tool.yaml:9) was not called, expected at least 2 and at most 4',
      '✗ fixture few (tool.yaml:12) was called once, expected at least 2',
      '✗ fixture many (tool.yaml:15) was called 3 times, expected at most 2',
      '✗ fixture once (tool.yaml:18) was called 2 times, expected 1',
      '✗ unmatched call: pay (c1) of thread_a: no fixture matches; nearest: ship: $.operation is "pay", not "ship"',
      '✗ unmatched call: pay (c1) of thread_a: unknown operation "pay".',
      '✗ unmatched call: a call without an operation: the invocation is malformed: not valid JSON',
      '✗ unmatched call: pay (c1) of thread_a: no fixture matches',
      '✗ undelivered callback: tool_result for pay (c1) to http://127.0.0.1:9/cb: answered 404',
      '✗ undelivered callback: pay (c2): still pending',
      '✗ undelivered callback: and 100 more',
      '✗ verification failed: 12 calls, 5 of 6 fixtures not as expected, 4 unmatched calls, 102 undelivered callbacks',
      '',
    ]);
  });

  test('a fixture is named with its operation, and callbacks that differ only in their call are one line', () => {
    const lost = { operation: 'pay', type: 'tool_result', why: 'connection refused' };
    const examples = [1, 2, 3].map(n => ({ ...lost, id: `c${n}`, url: `http://127.0.0.1:9/cb/${n}` }));
    const fixtures = [
      { id: 'tool.yaml:3', place: 'tool.yaml:3', operation: 'pay', calls: 0, ms: 0, status: 'unused' },
      { id: 'ship', place: 'tool.yaml:9', operation: 'send', calls: 0, ms: 0, status: 'unused' },
    ] as const;
    const report = { ...FINE, ok: false, fixtures, undelivered: { count: 3, examples } };
    expect(reported('human', report).split('\n').slice(0, 3)).toEqual([
      '✗ fixture tool.yaml:3 (pay) was not used',
      '✗ fixture ship (tool.yaml:9, send) was not used',
      '✗ undelivered callback: tool_result for pay (c1) to http://127.0.0.1:9/cb/1: connection refused (and 2 more like it)',
    ]);
  });

  test('a command that made no call gets a hint at the cache of go test', () => {
    const none = reported('human', { ...FINE, ok: false, calls: 0 }, KILLED);
    expect(none).toMatch(/^hint: No call came\. .*-count=1/m);
    expect(reported('human', FINE, KILLED)).not.toContain('hint:');
  });

  test('row 24: contains no raw control characters and no injected lines', () => {
    fc.assert(
      fc.property(fc.string({ unit: anyCodePoint }), text => {
        const output = reported('human', hostile(text));
        expect(output.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}]/u);
        expect(output.split('\n')).toHaveLength(5);
      }),
    );
  });
});

describe('json', () => {
  test('contains the whole report', () => {
    const { program, ms: durationMs } = RUN;
    expect(JSON.parse(reported('json', BROKEN))).toEqual({ ...BROKEN, program, durationMs });
  });

  test('contains the command; the run is not ok if the command failed', () => {
    const { command } = KILLED;
    expect(JSON.parse(reported('json', FINE, KILLED))).toMatchObject({ ok: false, command });
  });

  test('row 24: escapes invisible characters', () => {
    const report = hostile('\u001b\u009b\u202e');
    expect(reported('json', report).replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Cf}]/u);
    expect(JSON.parse(reported('json', report))).toMatchObject(report);
  });
});

describe('junit', () => {
  /** A strict parser that is not ours: `[name, attributes, text, children]`, of many documents at once. */
  const PARSE = `
import json, sys, xml.etree.ElementTree as etree
def element(e): return [e.tag, dict(e.attrib), (e.text or '').strip(), [element(c) for c in e]]
print(json.dumps([element(etree.fromstring(d.encode('utf-8'))) for d in json.load(sys.stdin)]))`;

  type XmlElement = readonly [
    name: string,
    attributes: Record<string, string>,
    text: string,
    children: readonly XmlElement[],
  ];

  function parsed(...documents: readonly string[]): readonly XmlElement[] {
    const input = JSON.stringify(documents);
    return JSON.parse(execFileSync('python3', ['-c', PARSE], { input, encoding: 'utf8' }));
  }

  const MARKUP = `</failure><x a='"'>&amp;]]>`;
  const reports = [FINE, BROKEN, hostile(MARKUP), hostile('\u0000\u001b\ud800\ufffe\n\u0085')];
  const texts = fc.sample(fc.string({ unit: anyCodePoint }), 300);
  const documents = parsed(
    ...[...reports, ...texts.map(hostile)].map(report => reported('junit', report)),
    reported('junit', BROKEN, KILLED),
  );

  function suiteAt(index: number): XmlElement {
    const [name, , , [suite]] = documents[index] ?? ['', {}, '', []];
    if (name !== 'testsuites' || !suite) throw new Error('without test suite');
    return suite;
  }

  test('is valid for a strict parser, with any text', () => {
    expect(documents).toHaveLength(305);
  });

  test('a test suite without failures', () => {
    const [name, attributes, , cases] = suiteAt(0);
    expect([name, attributes]).toEqual([
      'testsuite',
      { name: 'mock-tool', tests: '4', failures: '0', errors: '0', skipped: '0', time: '2.5' },
    ]);
    expect(cases.map(([, { classname, name: title, file, line }]) => [classname, title, file, line])).toEqual(
      [
        ['mock-tool.fixtures', 'pay', 'tool.yaml', '3'],
        ['mock-tool.fixtures', 'spare', 'tool.yaml', '9'],
        ['mock-tool.calls', 'every call is answered by a fixture', undefined, undefined],
        ['mock-tool.callbacks', 'every callback is delivered', undefined, undefined],
      ],
    );
    expect(cases.flatMap(([, , , children]) => children)).toEqual([]);
  });

  test('the time of a fixture is that of its calls; the other times are those of the requests', () => {
    const [, , , cases] = suiteAt(0);
    expect(cases.map(([, { time }]) => time)).toEqual(['0.12', '0', '0.004', '0.03']);
  });

  test('a command that failed is a test of its own, and comes first', () => {
    const [, attributes, , cases] = suiteAt(304);
    expect(attributes).toMatchObject({ tests: '9', failures: '8' });
    const [, command, , [failure] = []] = cases[0] ?? [];
    expect(command).toEqual({
      classname: 'mock-tool.command',
      name: 'the command succeeds',
      time: '2.25',
    });
    expect(failure?.[1]).toEqual({ type: 'exit', message: 'the command exited with status 137' });
  });

  test('a test suite with many failures', () => {
    const [, attributes, , cases] = suiteAt(1);
    expect(attributes).toMatchObject({ tests: '8', failures: '7' });
    const failures = cases.map(([, , , [failure]]) => failure && [failure[1]['type'], failure[1]['message']]);
    expect(failures).toEqual([
      undefined,
      ['unused', 'fixture tool.json#2 was not used'],
      ['unused', 'fixture ship (tool.yaml:9) was not called, expected at least 2 and at most 4'],
      ['too-few', 'fixture few (tool.yaml:12) was called once, expected at least 2'],
      ['too-many', 'fixture many (tool.yaml:15) was called 3 times, expected at most 2'],
      ['too-many', 'fixture once (tool.yaml:18) was called 2 times, expected 1'],
      [
        'unmatched',
        expect.stringMatching(/^unmatched call: pay \(c1\) of thread_a: no fixture .* \(and more\)$/),
      ],
      [
        'undelivered',
        expect.stringMatching(/^undelivered callback: tool_result for pay .* answered 404 \(and more\)$/),
      ],
    ]);
    expect(cases[7]?.[3][0]?.[2].split('\n').at(-1)).toBe('undelivered callback: and 100 more');
    expect(cases[1]?.[1]).toMatchObject({ name: 'tool.json#2', file: 'tool.json' });
  });

  test('markup, and characters that XML cannot hold', () => {
    const [markup, hidden] = [2, 3].map(index => suiteAt(index)[3][0]);
    expect(markup?.[1]['name']).toBe(MARKUP);
    expect(markup?.[3][0]?.[2]).toBe(`fixture ${MARKUP} (${MARKUP}:3) was not used`);
    expect(hidden?.[1]['name']).toBe('␀␛<U+D800><U+FFFE>␊<U+0085>');
  });
});

describe('github', () => {
  test('an annotation for each test that failed, at its fixture, and the summary', () => {
    const lines = reported('github', BROKEN, KILLED).trimEnd().split('\n');
    expect(lines).toHaveLength(9);
    expect(lines.slice(0, 2)).toEqual([
      '::error title=mock-tool%3A the command succeeds::the command exited with status 137',
      '::error file=tool.json,title=mock-tool%3A tool.json#2::fixture tool.json#2 was not used',
    ]);
    expect(lines[2]).toMatch(/^::error file=tool.yaml,line=9,title=mock-tool%3A ship::fixture ship /);
    expect(lines.at(-1)).toBe(
      '::notice title=mock-tool%3A failed::12 calls, 5 of 6 fixtures not as expected, 4 unmatched calls, 102 undelivered callbacks, the command failed',
    );
    expect(reported('github', FINE)).toBe('::notice title=mock-tool%3A passed::3 calls, 2 fixtures\n');
  });

  test('row 32: keeps untrusted text within its command', () => {
    const text = reported('github', hostile('a\n::error::b'));
    expect(text.trimEnd().split('\n')).toHaveLength(4);
    expect(unsafeIn(text)).toEqual([]);
  });
});

describe('markdown', () => {
  test('a row for each test', () => {
    const lines = reported('markdown', BROKEN, KILLED).split('\n');
    expect(lines[0]).toMatch(/^\*\*failed\*\* · mock-tool · 12 calls, .* \(protocol-cli\/test\)$/);
    expect(lines.slice(2, 6)).toEqual([
      '| test | result | seen |',
      '|---|---|---|',
      '| the command succeeds | ❌ failed | the command exited with status 137 |',
      '| pay | ✅ passed |  |',
    ]);
  });

  test('escapes untrusted text', () => {
    const text = reported('markdown', hostile('\u001b|<b>\n`x`'));
    expect(text.split('\n')).toHaveLength(8);
    expect(text).toContain('␛&#124;&#60;b&#62;␊&#96;x&#96;');
  });
});

describe('a failed command', () => {
  test('is the first problem, and fails the verification', () => {
    expect(reported('human', FINE, KILLED).split('\n')).toEqual([
      '✗ the command exited with status 137',
      '✗ verification failed: 3 calls, 2 fixtures, the command failed',
      '',
    ]);
  });
});

describe('sessions', () => {
  const report = (problems: SessionProblem[], { count = problems.length, sessions = 1 } = {}) => ({
    ok: count === 0,
    sessions,
    calls: 3,
    answered: 2,
    problems: { count, examples: problems },
  });
  const about = { session: 's1', call: 'call_1', tool_name: 'lookup' };

  test('prints a line for each problem, and a summary', () => {
    const text = formatted(
      'human',
      verifiedSessions(
        report([
          { kind: 'unanswered', ...about },
          { kind: 'unexpected', ...about, path: '$.result', reason: 'wanted 1, got 2' },
          { kind: 'unreached', session: 's1', rounds: 2, of: 3 },
          { kind: 'refused', session: null, status: 404, reason: 'Session not found.' },
          { kind: 'refused', what: 'session', session: null, status: 401, reason: 'No key.' },
        ]),
        RUN,
      ),
    );
    expect(text.split('\n')).toEqual([
      '✗ lookup call_1 was not answered',
      '✗ lookup call_1 got an unexpected answer: $.result wanted 1, got 2',
      '✗ 2 of 3 rounds were not reached',
      '✗ results were refused with 404: Session not found.',
      '✗ a new session was refused with 401: No key.',
      '✗ verification failed: 2 of 3 calls answered in 1 session, 5 problems',
      '',
    ]);
  });

  test('makes untrusted text safe to print', () => {
    const text = formatted(
      'human',
      verifiedSessions(report([{ kind: 'unanswered', ...about, tool_name: '\u001b[2J\n' }]), RUN),
    );
    expect(text).not.toContain('\u001b');
    expect(text.split('\n')).toHaveLength(3);
  });

  test('one test for all calls, which names every problem', () => {
    const verified = verifiedSessions(report([{ kind: 'unanswered', ...about }]), KILLED);
    expect(formatted('github', verified).split('\n').slice(0, 2)).toEqual([
      '::error title=session mock%3A the command succeeds::the command exited with status 137',
      '::error title=session mock%3A every call is answered as expected::lookup call_1 was not answered',
    ]);
    expect(formatted('junit', verified)).toMatch(/classname="session mock\.calls" .*time="2\.5"/);
  });
});

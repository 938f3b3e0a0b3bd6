import { describe, expect, test } from 'vitest';
import type { Check } from '../../../src/check/report.js';
import { openRuntime } from '../../peers/runtime.mjs';
import { checking, findingsIn } from '../support/checking.js';
import { startPeer } from '../support/peers.js';

/** What a check says of tools that share no code with us; each finding is true by the tool's own source. */

const WINDOW_MS = 2_000;

type Findings = Readonly<Record<string, readonly [Check['status'], RegExp]>>;

function expectFindings(checks: readonly Check[], expected: Findings): void {
  const findings = findingsIn(checks);
  const lines = findings.map(({ id, status, reason }) =>
    id in expected ? id : `${id}: ${status}: ${reason}`,
  );
  expect(lines.sort()).toEqual(Object.keys(expected).sort());
  for (const { id, status, reason } of findings) {
    const [due, says] = expected[id] ?? [];
    expect(`${id}: ${status}`).toBe(`${id}: ${due}`);
    expect(reason).toMatch(says ?? /$^/);
  }
}

const passed = (checks: readonly Check[]) =>
  checks.filter(({ status }) => status === 'pass').map(({ id }) => id);

describe.concurrent('plain-tool', () => {
  test('passes', async () => {
    await using peer = await startPeer('plain', { MIGRATION: 'moves' });
    await using person = await openRuntime();
    const checks = await checking(peer.url, {
      operations: ['sign_in', 'watch', 'paint', 'edit_file'],
      probeTimeoutMs: WINDOW_MS,
      onConsent: url => void person.visitConsent(url, 'grant'),
    });
    expectFindings(checks, {}); // its page is http, on loopback
    expect(passed(checks)).toEqual(
      expect.arrayContaining([
        'TOOL-RETRY',
        'TOOL-SUB',
        'TOOL-DIFF',
        'TOOL-FALLBACK',
        'TOOL-MIGRATE',
        'TOOL-OAUTH',
      ]),
    );
  });

  test('without a consent, what follows a consent is not judged', async () => {
    await using peer = await startPeer('plain');
    const checks = await checking(peer.url, { operations: ['sign_in'], probeTimeoutMs: WINDOW_MS });
    expectFindings(checks, { 'TOOL-OAUTH': ['could-not-run', /consent is missing/] });
  });
});

describe.concurrent('stdlib_tool.py', () => {
  test('passes', async () => {
    await using peer = await startPeer('stdlib');
    const operations = ['ask', 'subscribe', 'edit_file', 'view', 'login'];
    const checks = await checking(peer.url, { operations, probeTimeoutMs: WINDOW_MS });
    expectFindings(checks, {});
    expect(passed(checks)).toEqual(
      expect.arrayContaining(['TOOL-RETRY', 'TOOL-SUB', 'TOOL-CHOICE', 'TOOL-OAUTH', 'TOOL-DIFF']),
    );
  });
});

/** All probes, not only valid calls (late ones again alone) and those of the rules that an operation breaks. */
const IS_FULL = process.env['ALL_PROBES'] !== undefined;

/** It never looks at its arguments (`oddTool`: only the operation is read), and delivers once (`Call.deliver`). */
const CARELESS: Findings = {
  'TOOL-VALIDATE': ['fail', /arguments do not match its inputSchema was (executed|started)/],
  'TOOL-BAD-ARGS': ['warn', /a call with invalid arguments/],
  'TOOL-RETRY': ['warn', /no retry within/],
};

describe.concurrent('odd-tool', () => {
  test.each<[string, string[], Findings]>([
    ['careless at its best', ['no_display'], {}],
    [
      'acknowledgements.mjs',
      ['before_ack', 'ack_201', 'silent', 'no_display'],
      {
        // before_ack delivers first, ack_201 answers 201; silent answers 200 and delivers nothing.
        'TOOL-ACK': ['fail', /the 200 came after the result.*answered 201/],
        'TOOL-ALWAYS': ['fail', /^\d+ of \d+ calls got a result within 2s/],
      },
    ],
    [
      'deliveries.mjs: two results',
      ['then_right', 'two_results', 'no_display'],
      {
        // then_right sends forged-id first; two_results sends "first result", then "second result".
        'TOOL-ID': ['fail', /another id: "forged-id"/],
        'TOOL-ONCE': ['fail', /a second, different tool_result/],
        'TOOL-NORETRY': ['warn', /another tool_result came/],
      },
    ],
    [
      'deliveries.mjs: a wrong address, and no JSON',
      ['misdirected', 'malformed_json', 'no_display'],
      {
        // misdirected puts an x after the URL; malformed_json sends {"type":
        'TOOL-OPAQUE': ['fail', /to a URL other than the given one/],
        'TOOL-POST': ['fail', /not valid JSON/],
      },
    ],
    [
      'messages.mjs',
      ['forged_id', 'forged_group', 'wrong_call_id', 'missing_text', 'no_display'],
      {
        'TOOL-ID': ['fail', /"forged-id"/],
        'TOOL-GROUP': ['fail', /"forged-group"/],
        'TOOL-CALLID': ['fail', /"wrong-call-id"/],
        // missing_text leaves out the text, and has no content.
        'TOOL-POST': ['fail', /\$\.text: is required/],
      },
    ],
    [
      'questions.mjs',
      ['choice_lost', 'choice_bad_default', 'consent_in_the_open', 'no_display'],
      {
        // choice_lost names /nowhere; choice_bad_default has the index 2 of two; the consent is http elsewhere.
        'TOOL-CHOICE': ['fail', /response_url answered 404.*\$\.default/],
        'TOOL-OAUTH': ['fail', /\$\.auth_url: must be an https URL/],
        'TOOL-POST': ['fail', /\$\.default.*\$\.auth_url/],
      },
    ],
    [
      'events.mjs',
      ['event_after_final', 'event_unasked', 'deaf_events', 'no_display'],
      {
        'TOOL-SUB': [
          'fail',
          /after the final one.*after the cancel.*without a result with subscription: true/,
        ],
      },
    ],
    [
      'displays.mjs',
      ['unknown_only', 'bad_diff_then_text', 'bad_display_element', 'no_display'],
      {
        // bad_diff_then_text writes a sentence for a patch; unknown_only ends with a "scent"; the element is not an object.
        'TOOL-DIFF': ['fail', /malformed diff/],
        'TOOL-FALLBACK': ['warn', /its last is "scent"/],
        'TOOL-POST': ['fail', /display_as\[\d\]: must be an object/],
      },
    ],
  ])('%s', async (_, operations, expected) => {
    await using peer = await startPeer('odd');
    const all = { ...CARELESS, ...expected };
    const wants = (id: string) => IS_FULL || id in all || id === 'TOOL-ACK';
    const checks = await checking(peer.url, { operations, probeTimeoutMs: WINDOW_MS, wants });
    expectFindings(checks, all);
  });
});

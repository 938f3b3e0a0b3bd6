import { describe, expect, test } from 'vitest';
import { conformanceOf } from '../../src/check/conformance.js';
import { gatherEvidence } from '../../src/check/evidence.js';
import { checksOf } from '../../src/check/judge.js';
import type { Spot } from '../../src/check/rule.js';
import { REQUIREMENTS } from '../../src/check/rules/index.js';
import { callbackRedactor } from '../../src/events/shareable.js';
import type { RequirementId } from '../../src/protocol/requirements.js';
import { shareableRun } from '../../src/render/check-evidence.js';
import { ruleLines } from '../../src/render/outputs/check.js';
import { createRedactor } from '../../src/util/redact.js';
import { someCall } from '../check/samples/parts.js';
import {
  arrives,
  CHOICE,
  call,
  eventsOf,
  INVOCATION,
  type Moment,
  OAUTH,
  resultArrives,
} from '../events/build.js';
import { wireText } from '../support/wire-text.js';
import { plainText } from '../support/words.js';

describe('rules', () => {
  const IDS = Object.keys(REQUIREMENTS) as RequirementId[];

  test('a line of the list has id, level, side and statement, in columns', () => {
    const lines = plainText(ruleLines(IDS, false)).split('\n');
    expect(lines).toHaveLength(IDS.length);
    for (const [index, id] of IDS.entries()) {
      const { level, side, statement } = REQUIREMENTS[id];
      expect(lines[index]?.split(/ {2,}/)).toEqual([id, level === 'none' ? 'open' : level, side, statement]);
    }
  });

  test.each(IDS)('%s: shows the statement and its source', id => {
    const text = plainText(ruleLines([id], true));
    const { page, words } = REQUIREMENTS[id].source;
    expect(text).toContain(REQUIREMENTS[id].statement);
    expect(text).toContain(page);
    expect(text).toContain(`  fix          ${REQUIREMENTS[id].advice}`);
    if (words) expect(text).toContain(`“${words}”`);
  });
});

describe('a shareable run', () => {
  const SECRET = 'ghp_0a1b2c3d4e5f6a7b8c9d0e1f2a3b4c5d6e7f';

  /** The call that is reported, after secrets are out of it. */
  async function reportedCall(id: string, operation = 'list') {
    const call = someCall(id, { operation });
    const events = eventsOf(call.begun(), call.result({ id: 'another' }));
    const checks = checksOf('tool', [await gatherEvidence({ events }, 'tool')], {
      only: new Set(['TOOL-ID']),
    });
    const run = conformanceOf(checks);
    return shareableRun(run, createRedactor([SECRET])).checks[0]?.calls?.[0];
  }

  test('cuts a very long name', async () => {
    const endless = 'x'.repeat(100_000);
    const short = `${'x'.repeat(200)}…`;
    expect(await reportedCall(endless, endless)).toEqual({ operation: short, id: short });
  });

  test('threats, row 25: leaves no part of a secret at the cut', async () => {
    const name = `${'x'.repeat(180)}${SECRET}`;
    const clean = `${'x'.repeat(180)}[redacted]`;
    expect(await reportedCall(name, name)).toEqual({ operation: clean, id: clean });
  });
});

describe('evidence', () => {
  const pointing = (spot: Spot, ...parts: readonly (readonly Moment[])[]) => {
    const events = eventsOf(...parts);
    const proof = { events: [spot.event], spots: [spot] };
    return wireText(proof, { events, redactor: callbackRedactor(events) });
  };

  function wireTextOf(seqs: readonly number[], ...parts: readonly (readonly Moment[])[]): string {
    const events = eventsOf(...parts);
    return wireText({ events: seqs }, { events, redactor: callbackRedactor(events) });
  }

  describe('of a finding', () => {
    const LONG = 'x'.repeat(2_000);
    const TRACE = '    at read (/home/app/tool.js:12:5)';

    test('shows the matching part of a long text with its context', () => {
      const at = { event: 1, path: ['text'], range: [2_001, 2_001 + TRACE.length] } as const;
      const text = pointing(at, call(), arrives({ text: `${LONG}\n${TRACE}\n${LONG}` }));
      expect(text).toMatch(/│ {3}text {2}"…x{39}␊ {4}at read \(\/home\/app\/tool\.js:12:5\)␊x{39}…"$/);
    });

    test('reports a missing member and its siblings', () => {
      const text = pointing(
        { event: 1, path: ['call_id'] },
        call(),
        resultArrives({ call_id: undefined, text: LONG }),
      );
      expect(text).toContain('│   call_id  is not there; there are type, group_id, id, text');
    });

    test('finds the text in a large body', () => {
      const at = { event: 1, path: ['text'], range: [200_000, 200_004] } as const;
      const text = pointing(
        at,
        call(),
        arrives({ text: `${'y'.repeat(200_000)}here${'z'.repeat(200_000)}` }),
      );
      expect(text).toMatch(/"…y{40}herez{40}…"$/);
    });

    test('shows the beginning of a large body if the finding is not in a text', () => {
      const text = pointing(
        { event: 1, path: ['ids'] },
        call(),
        arrives({ text: 'y'.repeat(200_000), ids: [] }),
      );
      expect(text).toMatch(/│ {3}\{"text":"y+…$/);
    });

    test('row 25: contains no secret and no part of one', () => {
      const token = 'tok_0123456789abcdef';
      const invocation = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${token}` };
      const whole = `${LONG} ${token} here${LONG}`;
      const at = { event: 1, path: ['text'], range: [2_010, 2_026] } as const;
      expect(pointing(at, call({ invocation }), arrives({ text: whole }))).not.toMatch(/tok_|9abcdef/);
      const oauth = { ...OAUTH, auth_url: 'https://auth.example/consent?state=s3cr3tstate' };
      expect(pointing({ event: 1, path: ['auth_url'] }, call(), arrives(oauth))).toMatch(
        /auth_url {2}"https:\/\/auth\.example\/consent"$/,
      );
    });
  });

  describe('of bodies', () => {
    test('shows every member of a long body, shortened', () => {
      const text = wireTextOf([1], call(), arrives({ text: 'x'.repeat(2_000), metadata: 'last' }));
      expect(text).toMatch(/"text":"x{32}…".*"metadata":"last"\}$/);
    });

    test('reads only the beginning of a large body, and leaves no secret at the end (row 25)', () => {
      const token = 'tok_0123456789abcdef';
      const invocation = { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${token}` };
      const text = wireTextOf(
        [1],
        call({ invocation }),
        arrives({ text: `${token} ${'x'.repeat(200_000)}` }),
      );
      expect(text).toContain('"text":"[redacted] xxx');
      expect(text).not.toContain(token);
      expect(text.length).toBeLessThan(500);
    });

    test('row 25: leaves out URLs that grant access to a conversation', () => {
      const oauth = { ...OAUTH, auth_url: 'https://auth.example/consent?state=s3cr3tstate' };
      const choice = { ...CHOICE, response_url: 'http://127.0.0.1:3001/c/Zm9vYmFyYmF6cXV4MTIz' };
      const text = wireTextOf([0, 2], arrives(oauth), arrives(choice, { leg: 'back-2' }));
      expect(text).not.toMatch(/s3cr3tstate|Zm9vYmFyYmF6cXV4MTIz/);
    });
  });
});

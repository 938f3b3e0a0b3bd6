import { conformanceOf } from '../../src/check/conformance.js';
import type { CaseCheck, Check } from '../../src/check/report.js';
import { callbackRedactor } from '../../src/events/shareable.js';
import type { ReportInput } from '../../src/render/check-report.js';
import { acknowledged, at, call, eventsOf, INVOCATION, KEY, resultArrives } from '../events/build.js';

export const TOKEN = 'tok_0123456789abcdef';
/** What would act on a terminal, or in a workflow, or in a table. */
export const HOSTILE = '\u001b[2Jevil|<b>\n::error::100%, "x": `y`';

/** Whole where others search for it, and short on a screen. */
const LONG_ID = 'call_3f0b9c1e-77aa-4c55-9a44-0d6d5f6b2f01';
const MANY = ['a', 'b', 'c', 'd', 'e'].map(id => ({ operation: 'list', id }));

const EVENTS = eventsOf(
  call({ invocation: { ...INVOCATION, callback_url: `http://127.0.0.1:4000/callback/${TOKEN}` } }),
  at(3, acknowledged()),
  at(9, resultArrives({ id: 'other', text: `${HOSTILE} ${TOKEN} ${'x'.repeat(1_000)}` }, { status: 200 })),
);

const check = (id: Check['id'], status: Check['status'], more: Partial<Check> = {}): Check => ({
  id,
  side: id.startsWith('RT-') ? 'runtime' : 'tool',
  level: 'MUST',
  status,
  reason: `reason of ${id}`,
  events: [],
  ...more,
});

const CHECKS: readonly Check[] = [
  check('TOOL-ACK', 'pass', { events: [0, 1] }),
  check('TOOL-ASYNC', 'pass', { isRemarkable: true }),
  check('TOOL-ID', 'fail', {
    events: [2, 3],
    calls: [{ operation: 'edit_file', id: LONG_ID }],
    expected: KEY,
    actual: HOSTILE,
  }),
  check('TOOL-RETRY', 'could-not-run', { level: 'SHOULD', calls: MANY, cause: 'TOOL-ID' }),
  check('TOOL-FALLBACK', 'warn', { level: 'SHOULD', reason: HOSTILE }),
  check('TOOL-NOLEAK', 'warn', { level: 'SHOULD' }),
  check('TOOL-DIFF', 'pass'),
  check('TOOL-CHOICE', 'not-applicable', { reason: 'nothing asked' }),
  check('TOOL-OAUTH', 'not-applicable', { reason: 'nothing asked' }),
  check('RT-ID', 'pass'),
];

const CASES: readonly CaseCheck[] = [
  { place: 'c.yaml:3', operation: 'edit_file', status: 'pass', reason: 'fine', events: [] },
  {
    place: 'c.yaml:5',
    operation: HOSTILE,
    status: 'fail',
    reason: '$.text: wanted 1',
    events: [2],
    calls: [{ operation: HOSTILE, id: null }],
  },
  { place: 'c.yaml:7', operation: 'list', status: 'could-not-run', reason: 'not called', events: [] },
];

const EXCUSES = [
  { id: 'TOOL-NOLEAK', reason: 'known since March', place: 'known.yaml:1' },
  { id: 'TOOL-DIFF', reason: 'was broken', place: 'known.yaml:2' },
  { id: 'TOOL-CHOICE', reason: 'asks twice', place: 'known.yaml:3' },
] as const;

/** A run in which everything happens that can. */
export const MIXED: ReportInput = {
  target: 'http://127.0.0.1:3001',
  program: 'protocol-cli/test',
  warnings: [],
  whole: 'protocol-cli render run.ndjson',
  run: conformanceOf(CHECKS, CASES, { expectedFailures: EXCUSES }),
  record: { events: EVENTS, redactor: callbackRedactor(EVENTS) },
};

/** One of which something was lost. */
export const LOSSY: ReportInput = {
  ...MIXED,
  run: conformanceOf(
    CHECKS.filter(({ status }) => status === 'pass'),
    [],
    {
      gaps: [
        { place: 'run.ndjson:7', reason: `not valid JSON: ${HOSTILE}` },
        { place: 'run.ndjson:9', reason: '2 events are missing before it' },
      ],
    },
  ),
};

/** One in which all is fine. */
export const GREEN: ReportInput = {
  ...MIXED,
  run: conformanceOf(CHECKS.filter(({ status }) => status === 'pass')),
};

export const LOOK = { level: 0, isQuiet: false } as const;

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './support/in-process.js';
import { DELIVERIES, DISPLAYS, MESSAGES, type OddCase } from './support/odd-cases.js';
import { startTool } from './support/own-tool.js';
import { type Entry, fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJsonHere, type Report, verdicts, warningIds } from './support/report.js';
import { STACK_LINE } from './support/text.js';

/** Every oddity of `test/peers/odd-tool.mjs` after a good acknowledgement, and what must come of it. */
let odd: Peer;

beforeAll(async () => {
  odd = await startPeer('odd');
});
afterAll(() => odd.stop());

describe.concurrent.each([
  ['deliveries', DELIVERIES],
  ['messages', MESSAGES],
  ['displays', DISPLAYS],
])('odd %s', (_, cases: Readonly<Record<string, OddCase>>) => {
  it.each(Object.entries(cases))('%s', async (operation, expected) => {
    const { args = [], status = 0, outcome = 'success', text, ids = [], display } = expected;
    const ended = await invokeJsonHere(argv`${odd.url} ${operation} ${args}`);
    const { report, stderr } = ended;
    expect({
      status: ended.status,
      outcome: report.outcome?.type,
      text: report.llm?.text,
      verdicts: verdicts(report),
      ids: [...new Set(warningIds(report))].sort(),
      display: report.display,
    }).toMatchObject({
      status,
      outcome,
      text,
      verdicts: expected.verdicts ?? ['settles 200'],
      ids: [...ids].sort(),
      display: { chosen: null, type: 'text', skipped: [], ...display },
    });
    expect(report.warnings.map(({ message }) => message).join('\n')).toMatch(expected.says ?? /^/);
    expect(stderr).not.toMatch(STACK_LINE);
  });
});

describe.concurrent('RT-TEXT: stdout of -o text is exactly the text for the LLM', () => {
  const all: Readonly<Record<string, OddCase>> = { ...DELIVERIES, ...MESSAGES, ...DISPLAYS };
  const telling = ['two_results', 'content_items', 'forged_id', 'hostile_text', 'empty_text', 'no_display'];
  it.each(telling)('%s', async operation => {
    const { args = [], text, status = 0 } = all[operation] ?? { text: '' };
    const ended = await runHere(argv`invoke ${odd.url} ${operation} ${args} -o text`);
    expect(ended).toMatchObject({ status, stdout: text });
  });
});

it.concurrent('has a case for every operation of the peer', async () => {
  const { stdout } = await runHere(argv`toolset ${odd.url} -o json`);
  const offered: string[] = JSON.parse(stdout).tools.map(({ name }: { name: string }) => name);
  const covered = Object.keys({ ...DELIVERIES, ...MESSAGES, ...DISPLAYS });
  const rest = offered.filter(name => !covered.includes(name));
  // in the tests of acknowledgements below, and in flows/
  const elsewhere =
    /^(ack_|before_ack|silent$|choice_|consent_in_the_open$|event_|deaf_events$|unknown_view$)/;
  expect(rest.filter(name => !elsewhere.test(name))).toEqual([]);
});

describe.concurrent('foreign callbacks are never the result', () => {
  it.each(['forged_id', 'forged_group', 'misdirected', 'misdirected_origin_header'])(
    'RT-MATCH: %s is answered 4xx and ignored',
    async operation => {
      const { report, stderr } = await invokeJsonHere(argv`${odd.url} ${operation} --timeout 1s`);
      const delivery = await odd.seen('delivery', ({ url }) =>
        url.startsWith(String(callbackOrigin(report))),
      );
      expect(delivery.status).toBeGreaterThanOrEqual(400);
      expect(report.result).toBeNull();
      expect(report.llm?.text).not.toContain(`${operation} done`);
      expect(stderr).toMatch(/^warning: /m); // printed at once: it is the usual reason for a "timeout"
    },
  );

  it('row 8: a forged result, then the right one: the right one ends the call', async () => {
    const { report } = await invokeJsonHere(argv`${odd.url} then_right --linger 200ms`);
    expect(report.result).toMatchObject({ id: report.invocation?.id, text: 'then_right done' });
    expect(JSON.stringify(report.llm)).not.toContain('forged');
  });

  it('TOOL-CALLID: a changed call_id is a warning, and shown unchanged', async () => {
    const { report, status } = await invokeJsonHere(argv`${odd.url} wrong_call_id --call-id mine`);
    expect(status).toBe(0);
    expect(warningIds(report)).toContain('TOOL-CALLID');
    expect(report.result).toMatchObject({ call_id: 'wrong-call-id' });
  });

  it('row 19: __proto__ and constructor are ordinary data', async () => {
    const { stdout, status } = await invokeJsonHere(argv`${odd.url} proto_keys`);
    expect(status).toBe(0);
    const { result } = JSON.parse(stdout);
    expect(Object.keys(result)).toEqual(expect.arrayContaining(['__proto__', 'constructor']));
  });
});

describe.concurrent('a late result (delivery faults)', () => {
  it('after the timeout: answered 200, marked late, and not applied', async () => {
    const call = [odd.url, 'late_ms', 'ms=4000', '--timeout', '3s', '--linger', '2s'];
    const { report, status } = await invokeJsonHere(call);
    expect(status).toBe(7);
    expect(report.outcome).toEqual({ type: 'timeout', durationMs: 3_000, basis: 'ours' });
    expect(verdicts(report)).toEqual(['late 200']);
  });

  it('within the timeout: applied', async () => {
    const { report, status } = await invokeJsonHere(argv`${odd.url} late_ms ms=300 --timeout 10s`);
    expect(status).toBe(0);
    expect(report.timing?.resultMs).toBeGreaterThan(280);
  });
});

it.concurrent('TOOL-OPAQUE: a post to a wrong address is reported at once on stderr, and counted at the end', async () => {
  const { report, stderr } = await invokeJsonHere(argv`${odd.url} misdirected --timeout 1s`);
  const delivery = await odd.seen('delivery', ({ url }) => url.startsWith(String(callbackOrigin(report))));
  expect(delivery.status).toBe(404);
  expect(fieldOf(delivery, 'text')).toBe('misdirected done');
  expect(stderr).toContain('1 post to a wrong callback URL');
  expect(report.warnings).toContainEqual({
    id: 'TOOL-OPAQUE',
    message: expect.stringContaining('1 post to a wrong callback URL'),
  });
});

it.concurrent('-v shows the headers of a post to a wrong address', async () => {
  const { stderr } = await invokeJsonHere([odd.url, 'misdirected', '--timeout', '1s', '-v']);
  expect(stderr).toMatch(/^< POST \/callback\/…\n(?:< .*\n)*< content-type: application\/json$/m);
});

function callbackOrigin({ invocation }: Awaited<ReturnType<typeof invokeJsonHere>>['report']): string {
  return new URL(invocation?.callback_url ?? '').origin;
}

/** The invocations of one call, in order. */
async function attemptsOf({ invocation }: Report): Promise<Entry[]> {
  const log = await odd.log();
  return log.filter(entry => entry.what === 'invocation' && fieldOf(entry, 'id') === invocation?.id);
}

/** The arguments, the exit status, how many attempts there were, the status of the acknowledgement, and the text or its pattern. */
type AckCase = readonly [string, string[], status: number, attempts: number, ack: number | null, RegExp];

/** Warnings about the acknowledgement; none by default, null where they depend on the tool's haste. */
const ACK_WARNINGS: Readonly<Record<string, readonly string[] | null>> = {
  before_ack: ['TOOL-ACK'],
  ack_body_endless: null,
  ack_500: ['RT-RETRY'],
  ack_503_once: ['RT-RETRY'],
  ack_reset: ['RT-RETRY'],
};

const CASES: readonly AckCase[] = [
  ['before_ack', [], 0, 1, 200, /^before_ack done$/],
  ['ack_body_endless', [], 0, 1, 200, /^ack_body_endless done$/],
  ['ack_gzip', [], 0, 1, 200, /^ack_gzip done$/],
  ['ack_201', [], 4, 1, 201, /^Error: .*answered 201 instead of 200/],
  ['ack_204', [], 4, 1, 204, /^Error: .*answered 204 instead of 200/],
  ['ack_201', ['--lenient-ack'], 0, 1, 201, /^ack_201 done$/],
  ['ack_204', ['--lenient-ack'], 0, 1, 204, /^ack_204 done$/],
  ['ack_302', [], 4, 1, 302, /^Error: .*answered 302 instead of 200/],
  ['ack_302', ['--lenient-ack'], 4, 1, 302, /^Error: /],
  ['ack_400', [], 4, 1, 400, /^Error: .*400.*This call is not welcome here/],
  ['ack_404', [], 4, 1, 404, /^Error: .*answered 404 instead of 200/],
  ['ack_500', [], 4, 3, 500, /^Error: .*answered 500/],
  ['ack_500', ['--retries', '0'], 4, 1, 500, /^Error: /],
  ['ack_503_once', [], 0, 2, 200, /^ack_503_once done$/],
  ['ack_reset', [], 0, 2, 200, /^ack_reset done$/],
  ['ack_reset', ['--retries', '0'], 4, 1, null, /^Error: .*ECONNRESET/],
];

describe.concurrent('the acknowledgement (RT-NON200, RT-RETRY, RT-NORETRY; TOOL-ACK)', () => {
  it.each(CASES)(
    '%s %j: exit %i after %i attempt(s)',
    async (operation, args, status, attempts, ack, text) => {
      const ended = await invokeJsonHere(argv`${odd.url} ${operation} ${args} --timeout 10s`);
      const { report } = ended;
      const given = warningIds(report).filter(id => id === 'TOOL-ACK' || id === 'RT-RETRY');
      const { [operation]: ids = [] } = args.includes('--retries') ? {} : ACK_WARNINGS;
      expect({
        status: ended.status,
        attempts: (await attemptsOf(report)).length,
        ack: report.acknowledgement?.status ?? null,
        ids: ids && [...new Set(given)],
        basis: report.outcome?.basis,
        text: report.llm?.text,
        code: report.error?.code,
      }).toEqual({
        ...{ status, attempts, ack, ids },
        basis: status === 0 ? 'assumed' : 'ours',
        text: expect.stringMatching(text),
        code: status === 0 ? undefined : ack === null ? 'unreachable' : 'bad-acknowledgement',
      });
    },
  );

  it('RT-RETRY: the same invocation is sent again, not a new one', async () => {
    const { report } = await invokeJsonHere(argv`${odd.url} ack_503_once`);
    const [first, second] = await attemptsOf(report);
    expect(second?.raw).toBe(first?.raw);
  });
});

describe.concurrent('row 11: redirects are never followed', () => {
  it.each([301, 302, 303, 307, 308])('a %i answer fails the call after one request', async status => {
    await using tool = await startTool({ moved: { status, headers: { location: '/elsewhere' } } });
    const ended = await invokeJsonHere(argv`${tool.url} moved --group-id mine`);
    expect(ended.status).toBe(4);
    expect(ended.report.error?.hint).toMatch(
      /^Redirects are not followed; put the final URL into the toolset.s endpoint\.$/,
    );
    expect(tool.received.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /.well-known/rap-toolset',
      'POST /invoke',
    ]);
  });
});

/** On a busy machine. */
const SLOW_ACKNOWLEDGEMENT = /^warning: the acknowledgement took \S+, more than 1000ms \[TOOL-ACK\]\n/m;

describe.concurrent('no acknowledgement or no result (RT-TIMEOUT)', () => {
  it.each([
    ['ack_hang', 'was not acknowledged', null, /^The tool accepted the connection but did not answer\. /],
    [
      'silent',
      'was acknowledged with 200',
      200,
      /^Check that the tool can reach its callback URL at http:\S+:\d+ \(--callback-url sets another address\), or wait/,
    ],
  ])(
    '%s: exit 7; the error names what was sent, that it %s, and what to check',
    async (operation, said, ack, hint) => {
      const { report, status, stderr } = await invokeJsonHere(argv`${odd.url} ${operation} --timeout 3s`);
      expect(status).toBe(7);
      expect(report.acknowledgement?.status ?? null).toBe(ack);
      expect(report.error).toMatchObject({ code: 'timeout' });
      expect(report.error?.message).toContain(
        `timed out after 3s: ${operation} was sent to ${odd.url}/invoke`,
      );
      expect(report.error?.message).toContain(said);
      expect(report.error?.hint).toMatch(hint);
      expect(stderr).toContain(report.error?.message);
      expect(report.timing?.resultMs).toBeNull();
    },
  );

  it.each([
    [[], /^no callback has arrived yet at http:\S+:\d+ · 3s of 4s · Ctrl-C stops\nerror: timed out after 4s/],
    [['-q'], /^error: timed out after 4s/],
  ])('a long wait says meanwhile what is missing %j', async (options, says) => {
    const { stderr } = await runHere(argv`invoke ${odd.url} silent --timeout 4s ${options}`);
    expect(stderr.replace(SLOW_ACKNOWLEDGEMENT, '')).toMatch(says);
  });

  it('with --callback-url, the error names the URL that the tool received', async () => {
    const given = ['--callback-url', 'https://tunnel.example.com/base/'];
    const { report } = await invokeJsonHere(argv`${odd.url} silent --timeout 3s ${given}`);
    expect(report.invocation?.callback_url).toMatch(/^https:\/\/tunnel\.example\.com\/base\/callback\//);
    expect(report.error?.hint).toContain('https://tunnel.example.com');
  });
});

import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { runHere } from './support/in-process.js';
import { DELIVERIES, DISPLAYS, MESSAGES, type OddCase } from './support/odd-cases.js';
import { fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJsonHere, verdicts, warningIds } from './support/report.js';
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
  // acknowledgements.test.ts, and flows/
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
      expect(stderr).toMatch(/^warning: /m); // told at once: it is the usual reason for a "timeout"
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
    const call = [odd.url, 'late_ms', 'ms=1000', '--timeout', '500ms', '--linger', '2s'];
    const { report, status } = await invokeJsonHere(call);
    expect(status).toBe(7);
    expect(report.outcome).toEqual({ type: 'timeout', durationMs: 500, basis: 'ours' });
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

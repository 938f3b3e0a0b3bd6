import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startTool } from './support/own-tool.js';
import { type Entry, fieldOf, type Peer, startPeer } from './support/peers.js';
import { argv } from './support/program.js';
import { invokeJsonHere, type Report, warningIds } from './support/report.js';

let odd: Peer;

beforeAll(async () => {
  odd = await startPeer('odd');
});
afterAll(() => odd.stop());

/** The invocations of one call, in order. */
async function attemptsOf({ invocation }: Report): Promise<Entry[]> {
  const log = await odd.log();
  return log.filter(entry => entry.what === 'invocation' && fieldOf(entry, 'id') === invocation?.id);
}

interface AckCase {
  readonly operation: string;
  readonly args?: readonly string[];
  readonly status: number;
  readonly attempts: number;
  /** The acknowledgement's status; null where none came. */
  readonly ack: number | null;
  /** Its warnings about the acknowledgement; none by default, null where they depend on the tool's haste. */
  readonly ids?: readonly string[] | null;
  readonly text: string | RegExp;
}

const CASES: readonly AckCase[] = [
  { operation: 'before_ack', status: 0, attempts: 1, ack: 200, ids: ['TOOL-ACK'], text: 'before_ack done' },
  {
    operation: 'ack_body_endless',
    status: 0,
    attempts: 1,
    ack: 200,
    ids: null,
    text: 'ack_body_endless done',
  },
  { operation: 'ack_gzip', status: 0, attempts: 1, ack: 200, text: 'ack_gzip done' },
  { operation: 'ack_201', status: 4, attempts: 1, ack: 201, text: /^Error: .*answered 201 instead of 200/ },
  { operation: 'ack_204', status: 4, attempts: 1, ack: 204, text: /^Error: .*answered 204 instead of 200/ },
  { operation: 'ack_201', args: ['--lenient-ack'], status: 0, attempts: 1, ack: 201, text: 'ack_201 done' },
  { operation: 'ack_204', args: ['--lenient-ack'], status: 0, attempts: 1, ack: 204, text: 'ack_204 done' },
  { operation: 'ack_302', status: 4, attempts: 1, ack: 302, text: /^Error: .*answered 302 instead of 200/ },
  { operation: 'ack_302', args: ['--lenient-ack'], status: 4, attempts: 1, ack: 302, text: /^Error: / },
  {
    operation: 'ack_400',
    status: 4,
    attempts: 1,
    ack: 400,
    text: /^Error: .*400.*This call is not welcome here/,
  },
  { operation: 'ack_404', status: 4, attempts: 1, ack: 404, text: /^Error: .*answered 404 instead of 200/ },
  {
    operation: 'ack_500',
    status: 4,
    attempts: 3,
    ack: 500,
    ids: ['RT-RETRY'],
    text: /^Error: .*answered 500/,
  },
  { operation: 'ack_500', args: ['--retries', '0'], status: 4, attempts: 1, ack: 500, text: /^Error: / },
  {
    operation: 'ack_503_once',
    status: 0,
    attempts: 2,
    ack: 200,
    ids: ['RT-RETRY'],
    text: 'ack_503_once done',
  },
  { operation: 'ack_reset', status: 0, attempts: 2, ack: 200, ids: ['RT-RETRY'], text: 'ack_reset done' },
  {
    operation: 'ack_reset',
    args: ['--retries', '0'],
    status: 4,
    attempts: 1,
    ack: null,
    text: /^Error: .*ECONNRESET/,
  },
];

describe.concurrent('the acknowledgement (RT-NON200, RT-RETRY, RT-NORETRY; TOOL-ACK)', () => {
  it.each(CASES)(
    '$operation $args: exit $status after $attempts attempt(s)',
    async ({ operation, args = [], status, attempts, ack, ids = [], text }) => {
      const ended = await invokeJsonHere(argv`${odd.url} ${operation} ${args} --timeout 10s`);
      const { report } = ended;
      const relevant = warningIds(report).filter(id => id === 'TOOL-ACK' || id === 'RT-RETRY');
      expect({
        status: ended.status,
        attempts: (await attemptsOf(report)).length,
        ack: report.acknowledgement?.status ?? null,
        ids: ids && [...new Set(relevant)],
        basis: report.outcome?.basis,
        text: report.llm?.text,
      }).toEqual({
        status,
        attempts,
        ack,
        ids,
        basis: status === 0 ? 'assumed' : 'ours',
        text: text instanceof RegExp ? expect.stringMatching(text) : text,
      });
      expect(report.error?.code).toBe(
        status === 0 ? undefined : ack === null ? 'unreachable' : 'bad-acknowledgement',
      );
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

describe.concurrent('no acknowledgement or no result (RT-TIMEOUT)', () => {
  it.each([
    ['ack_hang', 'was not acknowledged', null],
    ['silent', 'was acknowledged with 200', 200],
  ])(
    '%s: exit 7; the error names what was sent, that it %s, and the callback URL',
    async (operation, said, ack) => {
      const { report, status, stderr } = await invokeJsonHere(argv`${odd.url} ${operation} --timeout 500ms`);
      expect(status).toBe(7);
      expect(report.acknowledgement?.status ?? null).toBe(ack);
      expect(report.error).toMatchObject({ code: 'timeout' });
      expect(report.error?.message).toContain(
        `timed out after 500ms: ${operation} was sent to ${odd.url}/invoke`,
      );
      expect(report.error?.message).toContain(said);
      expect(report.error?.hint).toContain('Check that the tool can reach its callback URL');
      expect(report.error?.hint).toContain(new URL(report.invocation?.callback_url ?? '').origin);
      expect(stderr).toContain(report.error?.message);
      expect(report.timing?.resultMs).toBeNull();
    },
  );

  it('with --callback-url, the error names the URL that the tool received', async () => {
    const given = ['--callback-url', 'https://tunnel.example.com/base/'];
    const { report } = await invokeJsonHere(argv`${odd.url} silent --timeout 500ms ${given}`);
    expect(report.invocation?.callback_url).toMatch(/^https:\/\/tunnel\.example\.com\/base\/callback\//);
    expect(report.error?.hint).toContain('https://tunnel.example.com');
  });
});

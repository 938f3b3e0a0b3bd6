import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { ask, type HttpAsk } from './support/http.js';
import { type Peer, startPeer } from './support/peers.js';
import { type PendingCall, pendingCall } from './support/pending-call.js';
import { argv } from './support/program.js';
import { invokeJsonHere, verdicts, warningIds, warningsOf } from './support/report.js';
import { closedPort, silentServer } from './support/sockets.js';

/** The listener of a real, running `invoke`: what anyone on the machine may do to it, and what comes of it. */
let odd: Peer;

beforeAll(async () => {
  odd = await startPeer('odd');
});
afterAll(() => odd.stop());

const FLOOD = 2_000;

describe('row 1: the token', () => {
  it(`${FLOOD} wrong, truncated and extended tokens get a bare 404, and one warning counts them`, async () => {
    const call = await pendingCall(odd);
    const tokens = Array.from({ length: FLOOD }, (_, number) => wrongToken(call.token, number));
    const answers = await flooded(call, tokens);
    expect(answers).toHaveLength(FLOOD);
    expect(new Set(answers.map(bare))).toEqual(new Set(['404 ']));
    expect((await ask(call.url, { body: call.message({ text: 'the right one' }) })).status).toBe(200);
    const { status, stderr } = await call.ended;
    const report = await call.report();
    expect(status).toBe(0);
    expect(report.llm?.text).toBe('the right one');
    expect(verdicts(report)).toEqual(['settles 200']);
    expect(warningsOf(report)).toEqual([
      {
        id: 'TOOL-OPAQUE',
        message: expect.stringMatching(new RegExp(`^${FLOOD} posts to a wrong callback URL: /callback/`)),
      },
      { message: '1 more request was dropped (limit reached)' }, // for the toolset: the latest are kept
    ]);
    // A stranger must not be able to fill the screen either.
    expect(stderr.split('\n').length).toBeLessThan(100);
  });

  it('has 256 random bits and is new for each call', async () => {
    const calls = await Promise.all([pendingCall(odd), pendingCall(odd)]);
    for (const { token } of calls) expect(Buffer.from(token, 'base64url')).toHaveLength(32);
    expect(calls[0].token).not.toBe(calls[1].token);
    await Promise.all(calls.map(settle));
  });
});

/** Posts to each of them, so many over one connection: the last one a result, after which the listener closes it. */
async function flooded(call: PendingCall, tokens: readonly string[], size = 125): Promise<string[]> {
  const floods = Array.from({ length: tokens.length / size }, (_, at) => {
    const [last = '', ...others] = tokens.slice(at * size, (at + 1) * size).reverse();
    const posts = [...others.map(token => postTo(call, token, '')), postTo(call, last, call.message())];
    return raw(call, posts.join(''));
  });
  return (await Promise.all(floods)).flatMap(answers => answers.split(/(?=HTTP\/1\.1 \d)/));
}

function postTo({ origin }: PendingCall, token: string, body: string): string {
  const head = `Host: ${new URL(origin).host}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return `POST /callback/${token} HTTP/1.1\r\n${head}\r\n\r\n${body}`;
}

/** The status and the body of an answer. */
function bare(answer: string): string {
  return `${answer.slice(9, 12)} ${answer.slice(answer.indexOf('\r\n\r\n') + 4)}`;
}

function wrongToken(token: string, number: number): string {
  const noise = number.toString(36);
  const at = number % token.length;
  const flipped = token[at] === 'A' ? 'B' : 'A';
  const ways = [
    token.slice(0, at),
    `${token}${noise}`,
    `${token}/${noise}`,
    `${noise}${token}`,
    token.slice(0, at) + flipped + token.slice(at + 1),
    token.toUpperCase() === token ? noise : token.toUpperCase(),
  ];
  return ways[number % ways.length] ?? '';
}

describe('row 7: the token of another call', () => {
  it('swapped results are discarded, the right ones end both calls', async () => {
    const [one, other] = await Promise.all([pendingCall(odd), pendingCall(odd)]);
    expect((await ask(one.url, { body: other.message() })).status).toBe(404);
    expect((await ask(other.url, { body: one.message() })).status).toBe(404);
    await Promise.all([settle(one), settle(other)]);
    for (const report of await Promise.all([one.report(), other.report()])) {
      expect(verdicts(report)).toEqual(['discarded 404', 'settles 200']);
      expect(report.llm?.text).toBe('done');
    }
  });
});

describe('the guard', () => {
  let call: PendingCall;
  beforeAll(async () => {
    call = await pendingCall(odd, '--max-body', '64k');
  });
  afterAll(async () => {
    await settle(call);
    const { warnings, llm } = await call.report();
    expect(llm?.text).toBe('done');
    expect(warnings.length).toBeGreaterThan(0);
  });

  const BROWSER = { 'content-type': 'text/plain' };

  it.each<[string, HttpAsk, number]>([
    ['row 2: a foreign Host', { headers: { host: 'evil.example' } }, 403],
    ['row 2: our name with another port', { headers: { host: '127.0.0.1:1' } }, 403],
    ['row 2: a name that only begins like ours', { headers: { host: 'localhost.evil.example' } }, 403],
    ['row 3: a web page’s simple POST', { headers: { ...BROWSER, origin: 'https://evil.example' } }, 403],
    ['row 3: Origin: null', { headers: { origin: 'null' } }, 403],
    ['row 3: Sec-Fetch-Site', { headers: { 'sec-fetch-site': 'same-origin' } }, 403],
    [
      'row 3: a preflight',
      {
        method: 'OPTIONS',
        headers: { origin: 'https://evil.example', 'access-control-request-method': 'POST' },
      },
      403,
    ],
    ['row 3: no JSON', { headers: BROWSER }, 415],
    ['a GET', { method: 'GET' }, 405],
    ['row 15: a body that is too large', { body: `"${'x'.repeat(65 * 1024)}"` }, 413],
    ['row 16: an encoded body', { headers: { 'content-encoding': 'gzip' } }, 415],
    ['row 18: JSON of a depth of 129', { body: nested(129) }, 400],
    ['row 18: JSON of a depth of 30,000', { body: nested(30_000) }, 400],
    ['row 21: the byte ff', { body: withBytes(0xff) }, 400],
    ['row 21: an overlong slash', { body: withBytes(0xc0, 0xaf) }, 400],
    ['row 21: a surrogate in CESU-8', { body: withBytes(0xed, 0xa0, 0x80) }, 400],
    ['an empty body', { body: '' }, 400],
  ])('%s', async (_, asked, status) => {
    const answer = await ask(call.url, { body: call.message(), ...asked });
    expect(answer.status).toBe(status);
    expectNothingReflected(answer);
  });

  it.each([
    ['Sec-Fetch-Mode, which Node’s own fetch sends', { 'sec-fetch-mode': 'cors' }],
    ['Host: localhost', { host: 'localhost' }],
    ['a charset', { 'content-type': 'application/json; charset=utf-8' }],
  ])('row 3: %s is accepted', async (_, headers) => {
    const named = 'host' in headers ? { host: `localhost:${new URL(call.url).port}` } : headers;
    const answer = await ask(call.url, { headers: named, body: view(call, 'let-through') });
    expect(answer.status).toBe(200);
    expectNothingReflected(answer);
  });

  it.each([126, 127])('row 18: a message with content nested %i deep', async depth => {
    const { status } = await ask(call.url, { body: view(call, 'deep', `{"a":${nested(depth - 1)}}`) });
    expect(status).toBe(200);
  });

  it.each(['Host: [', `Host: ${'a'.repeat(8 * 1024)}`, 'Host: a\r\nHost: b', 'Host:', 'X-No: host'])(
    'row 4: %s is answered 400, and the next request is served',
    async header => {
      const answer = await raw(call, `POST /callback HTTP/1.1\r\n${header}\r\nConnection: close\r\n\r\n`);
      expect(answer).toMatch(/^HTTP\/1\.1 400 /);
      expect((await ask(call.url, { body: view(call, 'next') })).status).toBe(200);
    },
  );

  it('row 8: results for another id or thread are recorded and discarded', async () => {
    for (const fields of [{ id: 'other' }, { group_id: 'other' }])
      expect((await ask(call.url, { body: call.message(fields) })).status).toBe(404);
  });
});

describe('row 20: values that JSON cannot hold are reported and shown unchanged', () => {
  it.each([
    [
      'a key twice',
      '"a":1,"a":2',
      /^the key "a" occurs twice in one object; the last one is used; strict runtimes, such as the reference, refuse it: the whole result is lost$/,
    ],
    ['1e400', '"n":1e400', /1e400 is too large/],
    ['2^53 + 1', '"n":9007199254740993', /9007199254740993 cannot be held exactly/],
    ['a lone surrogate', '"s":"\\ud800"', /lone surrogate/],
  ])('%s', async (_, members, says) => {
    const call = await pendingCall(odd);
    const body = `{"type":"tool_result","group_id":"${call.thread}","id":"${call.id}","text":"done",${members}}`;
    expect((await ask(call.url, { body })).status).toBe(200);
    const report = await call.report();
    expect(report.llm?.text).toBe('done');
    expect(warningsOf(report)).toEqual([{ id: 'TOOL-POST', message: expect.stringMatching(says) }]);
  });
});

describe('addresses', () => {
  it.concurrent('row 6: the URL names 127.0.0.1, also if another program has ::1 on that port', async () => {
    await using other = await silentServer('::1');
    const { report, status } = await invokeJsonHere(argv`
      ${odd.url} no_display --callback-port ${String(other.port)}
    `);
    expect(status).toBe(0);
    expect(report.invocation?.callback_url).toContain(`http://127.0.0.1:${other.port}/`);
    expect(other.connections()).toBe(0);
  });

  it.concurrent.each(['0.0.0.0', '::', '0', '[::]', '*'])(
    'row 5: %s is open to the network, with a warning',
    async host => {
      const { report, status } = await invokeJsonHere(argv`${odd.url} no_display --callback-host ${host}`);
      expect(status).toBe(0);
      expect(report.invocation?.callback_url).toMatch(/^http:\/\/127\.0\.0\.1:/);
      expect(warningsOf(report)).toEqual([
        { message: expect.stringContaining(`open to the network (--callback-host ${host})`) },
      ]);
    },
  );

  it.concurrent('row 5: loopback needs no warning', async () => {
    const { report } = await invokeJsonHere(argv`${odd.url} no_display --callback-host localhost`);
    expect(report.invocation?.callback_url).toMatch(/^http:\/\/127\.0\.0\.1:/);
    expect(warningIds(report)).toEqual([]);
  });

  it.concurrent('row 2: --allow-host and the host of --callback-url are accepted', async () => {
    const port = await closedPort();
    const call = await pendingCall(
      odd,
      ...[
        ...['--allow-host', 'tools.example', '--callback-url', 'https://tunnel.example/base'],
        ...['--callback-port', String(port)],
      ],
    );
    expect(call.url).toBe(`https://tunnel.example/base/callback/${call.token}`);
    const local = `http://127.0.0.1:${port}/callback/${call.token}`;
    for (const host of ['tools.example', 'tools.example:8080', 'tunnel.example'])
      expect((await ask(local, { headers: { host }, body: view(call, 'named') })).status, host).toBe(200);
    await ask(local, { body: call.message() });
    expect((await call.report()).llm?.text).toBe('done');
  });
});

/** Ends a call as a good tool would. */
async function settle(call: PendingCall): Promise<void> {
  expect((await ask(call.url, { body: call.message() })).status).toBe(200);
  expect((await call.ended).status).toBe(0);
}

function view(call: PendingCall, view_type: string, content = '{}'): string {
  return `{"type":"view_update","group_id":"${call.thread}","view_type":"${view_type}","content":${content}}`;
}

/** JSON nested so deep. */
function nested(depth: number): string {
  return `${'['.repeat(depth)}${']'.repeat(depth)}`;
}

function withBytes(...bytes: number[]): Uint8Array {
  return Buffer.concat([Buffer.from('{"type":"'), Buffer.from(bytes), Buffer.from('"}')]);
}

/** Row 28. */
function expectNothingReflected({ headers, body }: Awaited<ReturnType<typeof ask>>): void {
  expect(['', 'Invalid callback: the body does not match the schema of its type.\n']).toContain(body);
  expect(headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(headers['x-content-type-options']).toBe('nosniff');
  expect(Object.keys(headers).filter(name => name.startsWith('access-control'))).toEqual([]);
}

function raw({ url }: PendingCall, bytes: string): Promise<string> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  socket.write(bytes);
  return text(socket);
}

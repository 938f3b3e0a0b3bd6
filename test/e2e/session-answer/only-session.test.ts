import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { platformWith } from '../../agent-session/platform/client.js';
import { startServing } from '../../support/serving.js';
import { type Folder, temporaryFolder } from '../support/folder.js';
import { answerWith, KEY } from '../support/session-answer.js';

/** `session answer` without the id of a session. */
const FIXTURES =
  'version: 1\nfixtures: [{ match: { operation: lookup_order }, reply: { payload: shipped } }]\n';
const FIRST = '00000000-0000-4000-8000-000000000001';
const HINT = 'hint: Give the id of the session after the base URL.\n';

let folder: Folder;
let local: string[];
beforeAll(async () => {
  folder = await temporaryFolder();
  local = ['--fixtures', await folder.write('fixtures.yaml', FIXTURES), '-o', 'plain'];
});
afterAll(() => folder[Symbol.asyncDispose]());

const answerAt = (url: string, ...words: string[]) =>
  answerWith([url, ...words, ...local], { env: { API_KEY: KEY } });

/** A platform whose list of sessions is this. */
const listing = (status: number, body: unknown) =>
  startServing(response => response.writeHead(status).end(JSON.stringify(body)));

const sessionAt = (id: unknown, status = 'running') => ({ id, status });

describe.concurrent('without an id', () => {
  it('the only session is answered, under each form of the base URL', async () => {
    for (const suffix of ['', '/', '/api/v2']) {
      await using it = await platformWith({ key: KEY });
      const { status, stderr } = await answerAt(it.platform.url + suffix);
      expect([status, stderr]).toEqual([0, expect.any(String)]);
      expect(it.platform.sessions()).toMatchObject([{ id: FIRST, status: 'completed', settled: [{}] }]);
    }
  });

  it('2: several sessions are named with their statuses, and none is answered', async () => {
    await using it = await platformWith({ key: KEY });
    await it.ask('POST', '', { agent: 'a' });
    await it.ask('DELETE', `/${FIRST}`);
    const [first, second] = it.platform.sessions();
    const { status, stderr } = await answerAt(it.platform.url);
    expect([status, stderr]).toEqual([
      2,
      `error: the platform has several sessions\n  ${second?.id} (awaiting_tool_results)\n  ${first?.id} (interrupted)\n${HINT}`,
    ]);
    expect(it.platform.sessions()).toMatchObject([{ settled: [] }, { settled: [] }]);
    expect((await answerAt(it.platform.url, second?.id ?? '')).status).toBe(0);
  });

  it('2: of very many sessions ten are asked for', async () => {
    await using platform = await listing(200, { items: Array(10).fill(sessionAt('s')), total: 1_000 });
    expect((await answerAt(platform.url)).stderr.match(/ {2}s \(running\)\n/g)).toHaveLength(10);
    expect(platform.requests.map(({ method, url }) => `${method} ${url}`)).toEqual([
      'GET /api/v2/sessions?size=10',
    ]);
  });

  it('2: no session', async () => {
    await using platform = await listing(200, { items: [], page: 1, total: 0 });
    const { status, stderr } = await answerAt(platform.url);
    expect([status, stderr]).toEqual([2, `error: the platform has no session\n${HINT}`]);
  });

  it('2: an id that cannot be a part of a URL', async () => {
    await using platform = await listing(200, { items: [sessionAt('..')] });
    const { status, stderr } = await answerAt(platform.url);
    expect([status, stderr]).toEqual([2, expect.stringMatching(/^error: invalid session id: "\.\."\n/)]);
  });

  it.each<[string, number, unknown, string]>([
    ['the key is refused', 401, { message: `no ${KEY}` }, 'the platform answered 401 to GET'],
    ['the list is not served', 404, { detail: 'Not Found' }, 'the platform answered 404 to GET'],
    ['the list is not followed', 302, {}, 'the platform answered 302 to GET'],
    ['the list is no list', 200, { items: {} }, 'the list of sessions at'],
    ['a session has no id', 200, { items: [sessionAt(7)] }, 'the list of sessions at'],
  ])('4: %s', async (_, status, body, message) => {
    await using platform = await listing(status, body);
    const ended = await answerAt(platform.url);
    expect(ended).toMatchObject({ status: 4, stdout: '' });
    expect(ended.stderr).toMatch(new RegExp(`^error: ${message} .*\\n${HINT}$`));
    expect(ended.stderr).not.toContain(KEY);
  });

  it('the key and characters of the terminal in a list are not printed', async () => {
    const items = [sessionAt(`\u001b[2J${KEY}`), sessionAt('b', `${KEY}\n`)];
    await using platform = await listing(200, { items });
    const { stderr } = await answerAt(platform.url);
    expect(stderr).toContain('  ␛[2J[redacted] (running)\n  b ([redacted]');
  });
});

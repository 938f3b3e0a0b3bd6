import { readFile } from 'node:fs/promises';
import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { llmTextOf } from '../../src/events/exchange.js';
import { connect } from '../../src/runtime/connect.js';
import { ProtocolCliError } from '../../src/util/errors.js';
import { openHere } from '../screen/support/screen-here.js';
import { startServing } from '../support/serving.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Invocation, resultFor, startTool } from './support/own-tool.js';
import { fieldOf, type Peer, startPeer } from './support/peers.js';
import type { Ended } from './support/program.js';
import { argv } from './support/program.js';
import { invokeJsonHere } from './support/report.js';

const BEARER = 'BEARER-CANARY-4711';
const KEY = 'KEY-CANARY-4711';
const STATE = 'SECRET-STATE-123';
const CREDENTIALS = ['--bearer', BEARER, '-H', `X-Api-Key: ${KEY}`];

let stdlib: Peer;
let odd: Peer;

beforeAll(async () => {
  [stdlib, odd] = await Promise.all([startPeer('stdlib'), startPeer('odd')]);
});
afterAll(() => Promise.all([stdlib.stop(), odd.stop()]));

/** A tool that refuses every invocation and quotes its credentials, once where an excerpt is cut. */
function echoing() {
  const said = `${BEARER} and ${KEY} `;
  return startTool({ ask: { status: 400, body: said + 'x'.repeat(190 - said.length) + BEARER } });
}

/** The secret in the callback URL that the tool was given for a call. */
async function tokenOf(peer: Peer, id: string): Promise<string> {
  const invocation = await peer.seen('invocation', entry => fieldOf(entry, 'id') === id);
  return fieldOf(invocation, 'callback_url').split('/').at(-1) ?? '';
}

function secretsIn(text: string, token: string): string[] {
  const forms = [BEARER, KEY, STATE, token, Buffer.from(BEARER).toString('base64').replace(/=+$/, '')];
  return forms.filter(form => text.includes(form));
}

describe.concurrent('row 25: credentials that a tool repeats', () => {
  const toolset = (status: number) => (response: ServerResponse) => {
    const said = `${BEARER} and ${KEY}`;
    const tool = { name: 'ask', description: said, inputSchema: { type: 'object', description: said } };
    const document = {
      name: said,
      endpoint: `http://127.0.0.1:1/${KEY}`,
      tools: [tool],
      needsMigration: true,
    };
    response.writeHead(status, { 'content-type': 'application/json' });
    response.end(status === 200 ? JSON.stringify(document) : `${said} ${'x'.repeat(5_000)}`);
  };
  const broken = (response: ServerResponse) =>
    response.end(
      JSON.stringify({ name: 'n', endpoint: 'http://h/', tools: [{ name: BEARER, [BEARER]: KEY }] }),
    );

  it.each([
    ['toolset', toolset(200), ['-o', 'text'], true],
    ['toolset', toolset(200), ['-o', 'json'], true],
    ['toolset', broken, ['-o', 'text'], false],
    ['cancel', toolset(500), ['--group-id', 't', '--id', 'c', '-o', 'plain'], true],
    ['cancel', toolset(500), ['--group-id', 't', '--id', 'c', '-o', 'json'], true],
    ['close-thread', toolset(400), ['t'], true],
    ['migrate', toolset(200), ['s', 'https://elsewhere.example', '-o', 'json'], false],
    ['migrate', broken, ['s', 'https://elsewhere.example'], false],
  ])('%s %#', async (command, reply, more, quotes) => {
    await using server = await startServing(reply);
    const { stdout, stderr } = await runHere(argv`${command} ${server.url} ${more} ${CREDENTIALS}`);
    expect(server.requests.length).toBeGreaterThan(0);
    expect((stdout + stderr).includes('[redacted]')).toBe(quotes);
    expect(secretsIn(stdout + stderr, 'no token')).toEqual([]);
  });

  it('connect of the library', async () => {
    const headers = { authorization: `Bearer ${BEARER}`, 'x-api-key': KEY };
    await using server = await startServing(broken);
    const error = await connect(server.url, { headers }).catch(
      (reason: unknown) => reason as ProtocolCliError,
    );
    expect(error).toBeInstanceOf(ProtocolCliError);
    expect(secretsIn(JSON.stringify([(error as ProtocolCliError).message, error]), 'no token')).toEqual([]);
    await using tool = await echoing();
    await using connection = await connect(tool.url, { headers });
    const exchange = await connection.invoke('ask', {});
    expect(llmTextOf(exchange)).toContain('[redacted]');
    expect(secretsIn(llmTextOf(exchange) ?? '', 'no token')).toEqual([]);
  });
});

describe.concurrent('row 25: secrets stay out of output and files', () => {
  it.each(['text', 'plain', 'json', 'ndjson'])('-o %s -v --save', async output => {
    await using folder = await temporaryFolder();
    const id = `secrets-${output}`;
    const { status, stdout, stderr } = await runHere(argv`
      invoke ${stdlib.url} login ms=10 --id ${id} -o ${output} -v
      --save ${folder.file('transcript')} ${CREDENTIALS}
    `);
    const token = await tokenOf(stdlib, id);
    const saved = await readFile(folder.file('transcript'), 'utf8');
    expect(status).toBe(0);
    expect(token).toMatch(/^[\w-]{43}$/);
    expect(saved).toContain('https://auth.example.com/authorize');
    expect(secretsIn(saved, token)).toEqual([]);
    // The person gets the URL whole: once, on stderr.
    expect(secretsIn(stdout, token)).toEqual([]);
    expect(secretsIn(withoutUrlForThePerson(stderr), token)).toEqual([]);
  });

  it.each(['text', 'plain', 'json', 'ndjson'])(
    'a tool that repeats them in a refused acknowledgement: -o %s, with and without -v',
    async output => {
      await using tool = await echoing();
      await using folder = await temporaryFolder();
      const file = folder.file('transcript');
      for (const more of [[], ['-v', '--save', file]]) {
        const args = ['invoke', tool.url, 'ask', '-o', output, ...CREDENTIALS, ...more];
        const { status, stdout, stderr } = await runHere(args);
        expect(status).toBe(4);
        expect(stdout + stderr).toContain('[redacted]');
        expect(secretsIn(stdout + stderr, 'no token')).toEqual([]);
        // Nor the beginning of one that a cut has left.
        expect(stdout + stderr).not.toContain('CANARY');
      }
      expect(secretsIn(await readFile(file, 'utf8'), 'no token')).toEqual([]);
    },
  );

  it('a secret where a long line is cut: -o plain', async () => {
    const text = `${'x'.repeat(3_990)}${BEARER}${'x'.repeat(200)}`;
    await using tool = await startTool({ ask: { callbacks: call => [resultFor(call, text)] } });
    const { stdout } = await runHere(argv`invoke ${tool.url} ask -o plain ${CREDENTIALS}`);
    expect(stdout).toContain('more characters');
    expect(stdout).not.toContain(BEARER.slice(0, 8));
  });

  it('a tool that repeats them in a refused acknowledgement: on the screen', async () => {
    await using tool = await echoing();
    await using screen = openHere(['invoke', tool.url, 'ask', ...CREDENTIALS], { columns: 160 });
    expect(await screen.ended).toBe(4);
    expect(screen.emulator.history()).toContain('[redacted]');
    expect(screen.emulator.history()).not.toContain('CANARY');
  });

  it('RT-OAUTH: auth_url is whole for the user, without its query in JSON', async () => {
    const { stdout, stderr, report } = await invokeJsonHere(argv`${stdlib.url} login ms=10`);
    expect(stderr).toContain(`https://auth.example.com/authorize?state=${STATE}&client=x`);
    expect(stdout).not.toContain(STATE);
    expect(report.callbacks?.[0]).toMatchObject({
      type: 'oauth',
      auth_url: 'https://auth.example.com/authorize',
    });
  });

  it('--dry-run shows header names only, and sends nothing', async () => {
    const { stdout, stderr, status } = await runHere([
      ...['invoke', odd.url, 'silent', '--dry-run', '--group-id', 'dry', ...CREDENTIALS],
    ]);
    expect(status).toBe(0);
    expect(secretsIn(stdout + stderr, 'no token')).toEqual([]);
    expect(stdout).toContain(`POST ${odd.url}/invoke`);
    expect(stdout).toContain('authorization: [redacted]');
    expect(stdout).toMatch(/curl -X POST/);
    expect(stderr).toContain('before you run the curl, fill in: callback_url, x-api-key, authorization\n');
    const log = await odd.log();
    expect(log.filter(entry => fieldOf(entry, 'group_id') === 'dry')).toEqual([]);
  });

  it('--dry-run -o json is the same as one object', async () => {
    const args = ['silent', '--dry-run', '--group-id', 'dry-json', '-o', 'json', ...CREDENTIALS];
    const { stdout, stderr, status } = await runHere(argv`invoke ${odd.url} ${args}`);
    expect(status).toBe(0);
    expect(secretsIn(stdout + stderr, 'no token')).toEqual([]);
    const { request, curl, warnings, ...rest } = JSON.parse(stdout);
    expect(request).toMatchObject({
      method: 'POST',
      url: `${odd.url}/invoke`,
      headers: { 'content-type': 'application/json', authorization: '[redacted]' },
      body: { operation: 'silent', arguments: {}, group_id: 'dry-json' },
    });
    expect(curl).toMatch(/^curl -X POST/);
    expect([warnings, rest]).toEqual([[], {}]);
    const log = await odd.log();
    expect(log.filter(entry => fieldOf(entry, 'group_id') === 'dry-json')).toEqual([]);
  });

  it('a tool that repeats the callback URL, plain and encoded', async () => {
    await using tool = await startTool({
      leak: {
        callbacks: call => [resultFor(call, `${call.callback_url} ${encodeURIComponent(call.callback_url)}`)],
      },
    });
    const { stdout, report } = await invokeJsonHere(argv`${tool.url} leak -v`);
    const token = JSON.parse(tool.invocations()[0]?.raw ?? '')
      .callback_url.split('/')
      .at(-1);
    expect(report.result).toBeDefined();
    expect(stdout).not.toContain(token);
  });

  it.each(['json', 'ndjson'])('-o %s: the address of a question redacts nothing else', async output => {
    await using folder = await temporaryFolder();
    const code = '0123456789-code-4711';
    const path = `/user_choice/group_id/ask/u001b/subscription_event/${code}?code=${code}`;
    await using tool = await startTool({
      ask: {
        callbacks: call => [questionFor(call, `${tool.url}${path}`), resultFor(call, `\u001b ${code}`)],
      },
    });
    const { status, stdout } = await runHere(argv`
      invoke ${tool.url} ask --choose default -o ${output} --save ${folder.file('transcript')}
    `);
    const saved = await readFile(folder.file('transcript'), 'utf8');
    expect(status).toBe(0);
    expect(stdout + saved).not.toContain(code);
    for (const text of output === 'json' ? [saved] : [saved, stdout]) {
      expect(text).toContain(`${tool.url}/user_choice/group_id/ask/u001b/[redacted]/[redacted]"`);
      for (const line of text.trimEnd().split('\n')) JSON.parse(line);
    }
    if (output === 'json')
      expect(JSON.parse(stdout)).toMatchObject({
        invocation: { operation: 'ask', group_id: expect.any(String) },
        llm: { text: '\u001b [redacted]' },
      });
  });

  it('the password of a URL is neither sent nor printed', async () => {
    const url = `http://ada:${KEY}@127.0.0.1:${odd.port}`;
    const { stdout, stderr } = await invokeJsonHere(argv`${url} no_display --id with-a-password`);
    expect(secretsIn(stdout + stderr, 'no token')).toEqual([]);
    const log = await odd.log();
    const sent = log.filter(entry => fieldOf(entry, 'id') === 'with-a-password');
    expect(sent.filter(({ headers }) => 'authorization' in headers)).toEqual([]);
  });
});

describe.concurrent('row 12: credentials go to the origin they were given for', () => {
  it('to discovery, the invocation and the notices of that origin', async () => {
    const { status } = await runHere(argv`invoke ${odd.url} no_display --id same-origin ${CREDENTIALS}`);
    expect(status).toBe(0);
    const invocation = await odd.seen('invocation', entry => fieldOf(entry, 'id') === 'same-origin');
    const thread = fieldOf(invocation, 'group_id');
    const closed = await odd.seen('close_thread', entry => fieldOf(entry, 'thread_id') === thread);
    for (const { headers } of [invocation, closed])
      expect(headers).toMatchObject({ authorization: `Bearer ${BEARER}`, 'x-api-key': KEY });
    await odd.seen('discovery', ({ headers }) => headers['x-api-key'] === KEY);
  });

  it("not to another origin's endpoint: a warning, and the call is made without them", async () => {
    await using other = await startPeer('odd');
    await using peer = await startPeer('odd', { TOOLSET: 'elsewhere', ENDPOINT: `${other.url}/invoke` });
    const { status, stderr, report } = await invokeJsonHere(argv`${peer.url} no_display ${CREDENTIALS}`);
    expect(status).toBe(0);
    const elsewhere = JSON.stringify(await other.log());
    expect(elsewhere).toContain('"what":"invocation"');
    expect(elsewhere).not.toContain(BEARER);
    expect(elsewhere).not.toContain(KEY);
    expect(JSON.stringify(await peer.log())).toContain(BEARER);
    expect(report.warnings).toContainEqual({
      message: expect.stringMatching(
        /another origin.*authorization.*withheld|another origin.*x-api-key.*withheld/,
      ),
    });
    expect(secretsIn(stderr, 'no token')).toEqual([]);
    const dry = await runHere(argv`invoke ${peer.url} no_display --dry-run -H ${'X-Only: k'}`);
    expect(dry.stdout).toContain(`POST ${other.url}/invoke`);
    expect(dry.stdout.toLowerCase()).not.toContain('x-only');
  });

  it('--bearer env:NAME reads the environment', async () => {
    const env = { MY_TOKEN: 'FROM-THE-ENVIRONMENT' };
    await runHere(argv`invoke ${odd.url} no_display --id env-bearer --bearer env:MY_TOKEN`, {
      env,
    });
    const { headers } = await odd.seen('invocation', entry => fieldOf(entry, 'id') === 'env-bearer');
    expect(headers).toMatchObject({ authorization: 'Bearer FROM-THE-ENVIRONMENT' });
  });
});

function questionFor({ id, group_id }: Invocation, response_url: string): string {
  const question = { prompt: 'Which?', choices: ['a', 'b'], default: 0, response_url };
  return JSON.stringify({ type: 'user_choice', group_id, id, ...question });
}

/** The one place where a consent URL stands whole. */
function withoutUrlForThePerson(text: Ended['stdout']): string {
  return text.replace(/visit (this URL to continue: )?https:\/\/auth\.example\.com\/\S+/, '');
}

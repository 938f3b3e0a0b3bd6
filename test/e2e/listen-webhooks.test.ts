import { createHmac } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { temporaryFolder } from './support/folder.js';
import { ask } from './support/http.js';
import { runHere } from './support/in-process.js';
import { type ListeningHere, startListeningHere } from './support/listening.js';
import { argv } from './support/program.js';
import { askJson, startSessionMockHere } from './support/session-mock.js';

const SECRET = 'KEY-CANARY-0815';
const WHSEC = `whsec_${Buffer.from('KEY-CANARY-of-24-bytes--').toString('base64')}`;

/** Sends a webhook as the agent-session platform signs it. */
function send({ callback_url }: ListeningHere, body: string, { secret = SECRET, seconds = 0 } = {}) {
  const timestamp = String(Math.floor(Date.now() / 1_000) + seconds);
  const digest = createHmac('sha256', secret).update(`${timestamp}.${body}`).digest('hex');
  const headers = { 'x-h-webhook-timestamp': timestamp, 'x-h-webhook-signature': `sha256=${digest}` };
  return ask(callback_url, { body, headers });
}

/** Sends one as the package of Standard Webhooks signs it. */
function sendStandard({ callback_url }: ListeningHere, body: string, more: Record<string, string> = {}) {
  const now = new Date();
  const headers = {
    'webhook-id': 'evt_1',
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': new Webhook(WHSEC).sign('evt_1', now, body),
    ...more,
  };
  return ask(callback_url, { body, headers });
}

describe.concurrent('listen --signature', () => {
  it('shows each webhook with its verdict, and answers 200 or 401', async () => {
    await using listening = await startListeningHere(['--signature', `h:${SECRET}`]);
    const body = JSON.stringify({ type: 'session.idle', id: '1', data: {} });
    const answers = [
      await send(listening, body),
      await send(listening, body),
      await send(listening, body, { secret: 'other' }),
      await send(listening, body, { seconds: -900 }),
      await ask(listening.callback_url, { body }),
    ];
    expect(answers.map(({ status, body: text }) => [status, text])).toEqual([
      [200, ''],
      [200, ''],
      [401, 'Refused: its signature does not match the secret.\n'],
      [401, expect.stringMatching(/^Refused: its time is 15m(?: \d+s)? ago; at most 5m are allowed\.\n$/)],
      [401, 'Refused: it is not signed: it has no header X-H-Webhook-Signature.\n'],
    ]);
    const output = await listening.printsToStdout('it is not signed');
    expect(output).toMatch(
      /✓ webhook session.idle is genuine, signed \(h\), sent (?:now|\d+s ago)\n +\{"type":"session.idle"/,
    );
    expect(output).toMatch(/is genuine.*\n +! the same webhook came before\n/);
    expect(output).toContain(
      '✗ webhook session.idle refused with 401: its signature does not match the secret\n',
    );
    const { status, stderr } = await listening.stop();
    expect([status, stderr]).toEqual([0, '']);
  });

  it('takes every media type, and shows what is no JSON as text', async () => {
    await using listening = await startListeningHere(['--signature', `github:${SECRET}`]);
    const body = 'payload=%7B%7D\u001b[2J';
    const signature = `sha256=${createHmac('sha256', SECRET).update(body).digest('hex')}`;
    const { status } = await ask(listening.callback_url, {
      body,
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        ...{ 'x-github-event': 'ping', 'x-github-delivery': 'd', 'x-hub-signature-256': signature },
      },
    });
    expect(status).toBe(200);
    expect(await listening.printsToStdout('payload')).toMatch(
      /✓ webhook ping is genuine, signed \(github\)\n +payload=%7B%7D␛\[2J\n/,
    );
  });

  it('serves deliveries of MCP Events and of A2A', async () => {
    const signatures = ['--signature', 'standard:env:HOOK', '--signature', `h:${SECRET}`];
    await using listening = await startListeningHere(signatures, { env: { HOOK: WHSEC } });
    const event = JSON.stringify({ eventId: 'evt_1', name: 'ticket.created', data: { id: 7 } });
    const update = JSON.stringify({
      statusUpdate: { taskId: 't', status: { state: 'TASK_STATE_COMPLETED' } },
    });
    const mcp = await sendStandard(listening, event, { 'x-mcp-subscription-id': 'sub_1' });
    const a2a = await sendStandard(listening, update, {
      ...{ 'content-type': 'application/a2a+json', 'x-a2a-notification-token': 'TOKEN-CANARY-0815' },
    });
    expect([mcp.status, a2a.status]).toEqual([200, 200]);
    const output = await listening.printsToStdout('TASK_STATE_COMPLETED');
    expect(output).toContain('ticket.created');
    expect(output).not.toContain('CANARY');
  });

  it('--count counts genuine webhooks only', async () => {
    await using listening = await startListeningHere(['--signature', `h:${SECRET}`, '--count', '2']);
    const body = '{"type":"a"}';
    await send(listening, body);
    await send(listening, body, { secret: 'other' });
    await send(listening, body);
    expect((await listening.ended).status).toBe(0);
    const late = await runHere(['listen', '--signature', `h:${SECRET}`, '--count', '1', '--timeout', '50ms']);
    expect([late.status, late.stderr]).toEqual([
      7,
      expect.stringMatching(/^error: timed out after 50ms with fewer than 1 genuine webhooks/),
    ]);
  });

  it('-o json: a line for each; secrets, tokens and signatures are in no output', async () => {
    await using folder = await temporaryFolder();
    const saved = folder.file('saved.ndjson');
    const signatures = ['--signature', 'h:env:OLD', '--signature', 'h:env:NEW'];
    await using listening = await startListeningHere([...signatures, '-o', 'json', '--save', saved], {
      env: { OLD: 'old-secret', NEW: SECRET },
    });
    const body = JSON.stringify({ type: 'session.idle', id: '1', leak: SECRET });
    await send(listening, body);
    await send(listening, body, { secret: 'other' });
    await ask(`${listening.callback_url}x`, { body });
    const lines = (await listening.printsToStdout('wrong-address')).trim().split('\n');
    const message = { type: 'session.idle', id: '1', leak: '[redacted]' };
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      {
        type: 'session.idle',
        verdict: 'genuine',
        status: 200,
        scheme: 'h',
        secret: 2,
        message,
        warnings: [],
      },
      {
        ...{ type: 'session.idle', verdict: 'refused', status: 401, secret: null, bytes: body.length },
        reason: 'its signature does not match any of the 2 secrets',
      },
      { type: null, verdict: 'rejected', status: 404, reason: 'wrong-address' },
    ]);
    const { stderr } = await listening.stop();
    const transcript = await readFile(saved, 'utf8');
    const { events, faults } = readTranscript(transcript.trim().split('\n'));
    expect(faults).toEqual([]);
    const webhooks = events.filter(event => event.kind === 'request' && event.purpose === 'webhook');
    expect(webhooks).toMatchObject([
      { from: 'platform', to: 'client', headers: { 'x-h-webhook-signature': '[redacted]' } },
      {},
    ]);
    const token = listening.callback_url.split('/').at(-1) ?? '';
    for (const hidden of [SECRET, 'old-secret', token])
      expect(lines.join('') + stderr + transcript).not.toContain(hidden);
  });

  it('what session mock delivers is genuine', async () => {
    await using mock = await startSessionMockHere(['-q']);
    const post = async (path: string, body?: object) => {
      const headers = { authorization: `Bearer ${mock.key}` };
      return (await askJson(`${mock.url}/api/v2${path}`, { method: 'POST', headers, body })).json;
    };
    const { id, secret: old } = (await post('/webhooks', { url: mock.url })) as {
      id: string;
      secret: string;
    };
    const { secret } = (await post(`/webhooks/${id}/rotate`)) as { secret: string };
    const signatures = ['--signature', `h:${old}`, '--signature', `h:${secret}`];
    await using listening = await startListeningHere([...signatures, '--count', '3', '-o', 'json']);
    const headers = { authorization: `Bearer ${mock.key}` };
    const body = { url: listening.callback_url };
    await askJson(`${mock.url}/api/v2/webhooks/${id}`, { method: 'PATCH', headers, body });
    expect(await post(`/webhooks/${id}/ping`)).toEqual({ response_status: 200 });
    await post('/sessions', { agent: 'a' });
    expect((await listening.ended).status).toBe(0);
    const lines = listening.stdout().trim().split('\n');
    expect(lines.map(line => JSON.parse(line))).toMatchObject([
      { type: 'ping', verdict: 'genuine', secret: 2, warnings: [] },
      { type: 'session.status_updated', verdict: 'genuine', secret: 2, warnings: [] },
      { message: { data: { status: 'awaiting_tool_results' } }, verdict: 'genuine', warnings: [] },
    ]);
  });
});

describe.concurrent('the option', () => {
  it.each([
    [argv`listen --signature secret`, 'expected h, standard or github, a colon, and a secret'],
    [argv`listen --signature other:secret`, 'expected h, standard or github, a colon, and a secret'],
    [argv`listen --signature h:`, 'expected h, standard or github, a colon, and a secret'],
    [argv`listen --signature h:env:NOT_SET`, '--signature: the environment variable NOT_SET is not set'],
    [argv`listen --signature standard:whsec_%`, 'a secret of standard is base64'],
    [argv`listen --signature h:secret --expect t/a`, '--signature excludes --expect, --group-id and --id'],
  ])('%j is refused', async (words, message) => {
    const { status, stderr } = await runHere(words);
    expect([status, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).not.toContain('whsec_%');
  });
});

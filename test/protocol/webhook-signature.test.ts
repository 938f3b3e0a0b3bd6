import { Webhook } from 'standardwebhooks';
import { describe, expect, test } from 'vitest';
import {
  platformSignature,
  type SignatureKey,
  type SignatureScheme,
  WebhookJudge,
} from '../../src/protocol/webhook-signature.js';

const NOW = new Date('2026-01-01T00:00:00.000Z');
const SECRETS = {
  h: 'whsec_of-the-platform',
  standard: `whsec_${Buffer.from('0123456789abcdef01234567').toString('base64')}`,
  github: "It's a Secret to Everybody",
};
const keys = (...schemes: SignatureScheme[]): SignatureKey[] =>
  schemes.map(scheme => ({ scheme, secret: SECRETS[scheme] }));

const at = (seconds: number) => new Date(NOW.getTime() + seconds * 1_000);
const stamp = (date: Date) => String(Math.floor(date.getTime() / 1_000));

function arrived(body: unknown, headers: Readonly<Record<string, string>>) {
  return { headers, json: body, body: Buffer.from(JSON.stringify(body)) };
}

/** As the platform's own SDK reads it; the digest is computed apart in the tests of `session mock`. */
function platformWebhook(body: unknown, sent = NOW, secret = SECRETS.h) {
  const timestamp = stamp(sent);
  const signature = platformSignature(secret, timestamp, Buffer.from(JSON.stringify(body)));
  return arrived(body, { 'x-h-webhook-signature': signature, 'x-h-webhook-timestamp': timestamp });
}

/** Signed by the package of Standard Webhooks. */
function standardWebhook(body: unknown, { id = 'msg_1', sent = NOW, secret = SECRETS.standard } = {}) {
  const signature = new Webhook(secret).sign(id, sent, JSON.stringify(body));
  return arrived(body, {
    'webhook-id': id,
    'webhook-timestamp': stamp(sent),
    'webhook-signature': signature,
  });
}

/** GitHub's own example of a signature. */
const GITHUB = {
  headers: {
    'x-github-delivery': 'd1',
    'x-hub-signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17',
  },
  body: Buffer.from('Hello, World!'),
  json: undefined,
};

const judge = (webhook: ReturnType<typeof arrived> | typeof GITHUB, ...given: SignatureKey[]) =>
  new WebhookJudge(given).judge(webhook, NOW);

describe('a genuine webhook', () => {
  test.each([
    ['h', platformWebhook({ id: '1' }, at(-2)), 2_000],
    ['standard', standardWebhook({ type: 'a' }, { sent: at(1) }), -1_000],
    ['github', GITHUB, null],
  ] as const)('of %s', (scheme, webhook, ageMs) => {
    expect(judge(webhook, ...keys(scheme))).toEqual({ problem: null, scheme, secret: 1, ageMs, notes: [] });
    expect(judge(webhook, ...keys('h', 'standard', 'github'))).toMatchObject({ problem: null, scheme });
  });

  test('during a rotation each secret is right, and the verdict names it', () => {
    const old = { scheme: 'h', secret: 'old' } as const;
    expect(judge(platformWebhook({}), old, ...keys('h'))).toMatchObject({ problem: null, secret: 2 });
    expect(judge(platformWebhook({}, NOW, 'old'), old, ...keys('standard', 'h'))).toMatchObject({
      secret: 1,
    });
  });

  test('a header of Standard Webhooks may have several signatures', () => {
    const { headers, ...webhook } = standardWebhook({ type: 'a' });
    const signature = `v1a,other v1,${'A'.repeat(43)}= ${headers['webhook-signature']}`;
    const several = { ...webhook, headers: { ...headers, 'webhook-signature': signature } };
    expect(judge(several, ...keys('standard'))).toMatchObject({ problem: null });
  });
});

test('of a sender that signs like GitHub, and sends no id, nothing is known to be a repetition', () => {
  const { 'x-github-delivery': _, ...headers } = GITHUB.headers;
  const judging = new WebhookJudge(keys('github'));
  for (let count = 0; count < 2; count++)
    expect(judging.judge({ ...GITHUB, headers }, NOW)).toMatchObject({ problem: null, notes: [] });
});

describe('a webhook is refused', () => {
  test.each([
    ['h', platformWebhook({ id: '1' })],
    ['standard', standardWebhook({ type: 'a' })],
    ['github', GITHUB],
  ] as const)('if its body was changed, of %s', (scheme, webhook) => {
    const body = Buffer.from(`${webhook.body} `);
    expect(judge({ ...webhook, body }, ...keys(scheme))).toEqual({
      problem: 'its signature does not match the secret',
      ...{ scheme, secret: null, ageMs: scheme === 'github' ? null : 0, notes: [] },
    });
  });

  test.each<[string, Readonly<Record<string, string>>]>([
    ['the time', { 'x-h-webhook-timestamp': stamp(at(1)) }],
    ['half of the signature', { 'x-h-webhook-signature': 'sha256=' }],
    ['the algorithm', { 'x-h-webhook-signature': 'sha1=0' }],
  ])('if %s was changed', (_, changed) => {
    const { headers, ...webhook } = platformWebhook({});
    const altered = { ...webhook, headers: { ...headers, ...changed } };
    expect(judge(altered, ...keys('h', 'h')).problem).toBe(
      'its signature does not match any of the 2 secrets',
    );
  });

  test('if the id of Standard Webhooks was changed', () => {
    const { headers, ...webhook } = standardWebhook({});
    const altered = { ...webhook, headers: { ...headers, 'webhook-id': 'msg_2' } };
    expect(judge(altered, ...keys('standard')).problem).toMatch(/does not match/);
  });

  test.each<[string, Readonly<Record<string, string>>, SignatureScheme[], string]>([
    [
      'headers',
      {},
      ['h', 'github'],
      'it is not signed: it has no header X-H-Webhook-Signature or X-Hub-Signature-256',
    ],
    [
      'a header of its scheme',
      { 'webhook-signature': 'v1,a' },
      ['h'],
      'it is not signed: it has no header X-H-Webhook-Signature',
    ],
    ['a time', { 'x-h-webhook-signature': 'a' }, ['h'], 'it has no header X-H-Webhook-Timestamp'],
    [
      'an id',
      { 'webhook-signature': 'v1,a', 'webhook-timestamp': '1' },
      ['standard'],
      'it has no header webhook-id',
    ],
    [
      'a time that is a number',
      { 'x-h-webhook-signature': 'a', 'x-h-webhook-timestamp': '1e3' },
      ['h'],
      'its header X-H-Webhook-Timestamp is not a number of seconds',
    ],
  ])('without %s', (_, headers, schemes, problem) => {
    expect(judge(arrived({}, headers), ...keys(...schemes))).toMatchObject({ problem, secret: null });
  });

  test.each([
    [300, null],
    [-300, null],
    [-301, 'its time is 5m 1s ago; at most 5m are allowed'],
    [301, 'its time is 5m 1s in the future; at most 5m are allowed'],
  ])('if it was sent %d s from now: %s', (seconds, problem) => {
    expect(judge(platformWebhook({}, at(seconds)), ...keys('h')).problem).toBe(problem);
    const standard = standardWebhook({}, { sent: at(seconds) });
    expect(judge(standard, ...keys('standard')).problem).toBe(problem);
  });
});

describe('the order of webhooks', () => {
  const AGAIN = 'the same webhook came before';
  const change = (id: string, created: Date, session = 's') =>
    platformWebhook({ id, created_at: created.toISOString(), data: { session_id: session } });

  test('of one session: one that is older than an earlier one, or came before, is noted', () => {
    const judging = new WebhookJudge(keys('h'));
    const notesOn = (webhook: ReturnType<typeof change>) => judging.judge(webhook, NOW).notes;
    expect(notesOn(change('1', at(-3)))).toEqual([]);
    expect(notesOn(change('3', at(-1)))).toEqual([]);
    expect(notesOn(change('2', at(-2)))).toEqual(['one that is 1s newer came before']);
    expect(notesOn(change('4', at(-1)))).toEqual([]);
    expect(notesOn(change('3', at(-1)))).toEqual([AGAIN]);
    expect(notesOn(change('5', at(-2), 'other'))).toEqual([]);
  });

  test('by the header where the body has no time', () => {
    const judging = new WebhookJudge(keys('standard', 'github'));
    const send = (id: string, sent: Date) => standardWebhook({}, { id, sent });
    expect(judging.judge(send('1', at(0)), NOW).notes).toEqual([]);
    expect(judging.judge(send('2', at(-9)), NOW).notes).toEqual(['one that is 9s newer came before']);
    expect(judging.judge(send('1', at(0)), NOW).notes).toEqual([AGAIN]);
    expect(judging.judge(GITHUB, NOW).notes).toEqual([]);
    expect(judging.judge(GITHUB, NOW).notes).toEqual([AGAIN]);
  });

  test('one that is refused does not count', () => {
    const judging = new WebhookJudge(keys('h'));
    const forged = platformWebhook({ id: '1', created_at: at(60).toISOString() }, NOW, 'other');
    expect(judging.judge(forged, NOW)).toMatchObject({ notes: [], problem: expect.any(String) });
    expect(judging.judge(platformWebhook({ id: '1', created_at: NOW.toISOString() }), NOW).notes).toEqual([]);
  });
});

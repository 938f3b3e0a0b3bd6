import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type Peer, startPeer } from '../e2e/support/peers.js';
import { answersOf, type Probing, probing, sentBy, typesOf } from './probing.js';

/** Tools that share no code with us: what is sent to them, by their own word, and what is seen of them. */
let plain: Peer;
let odd: Peer;
let stdlib: Peer;
let ofPlain: Probing;
let ofOdd: Probing;
let ofStdlib: Probing;
beforeAll(async () => {
  [plain, odd, stdlib] = await Promise.all([
    startPeer('plain', { MIGRATION: 'moves' }),
    startPeer('odd'),
    startPeer('stdlib'),
  ]);
  [ofPlain, ofOdd, ofStdlib] = await Promise.all([
    probing(plain.url),
    probing(odd.url, { operations: ['before_ack', 'silent', 'ack_500'], probeTimeoutMs: 1_500 }),
    probing(stdlib.url, { operations: ['ask', 'subscribe'] }),
  ]);
}, 30_000);
afterAll(() => Promise.all([plain, odd, stdlib].map(peer => peer.stop())));

const operationsOf = async (peer: Peer) => {
  const bodies = (await peer.log())
    .filter(({ what }) => what === 'invocation')
    .map(({ body }) => Object(body));
  return new Set(bodies.map(({ operation }) => operation).filter(name => typeof name === 'string'));
};

describe('plain-tool', () => {
  test('is called for what it marks as harmless, and for nothing else', async () => {
    const called = await operationsOf(plain);
    expect([...called].sort()).toEqual([
      '../../etc/passwd',
      '__proto__',
      'echo',
      'json',
      'no_such_operation',
    ]);
  });

  test('is asked for a migration that cannot be, and refuses', async () => {
    const { migrations } = ofPlain.evidence;
    expect(migrations.map(({ request }) => Buffer.from(request.body?.bytes ?? []).toString())).toEqual([
      '{}',
    ]);
    expect(migrations.map(({ response }) => response?.status)).toEqual([400]);
  });

  test.each([
    ['listener-fails', [500, 500, 200]],
    ['listener-refuses', [400]],
  ])('%s', (plan, answers) => {
    expect(ofPlain.callsOf(plan).map(answersOf)).toEqual([answers]);
  });

  test('gives every id back', () => {
    for (const call of ofPlain.callsOf('odd-ids'))
      expect(call.callbacks.map(({ verdict }) => verdict?.kind)).toEqual(['settles']);
  });
});

describe('odd-tool', () => {
  test('without a word it is waited for, and that is told', () => {
    const silent = ofOdd.callsOf('valid-call').find(each => sentBy(each)['operation'] === 'silent');
    expect(silent?.callbacks).toEqual([]);
    expect(silent?.expiries).toMatchObject([{ what: 'observation', afterMs: 1_500 }]);
  });

  test('what it answers other than 200 is not sent again', () => {
    const refused = ofOdd.callsOf('valid-call').find(each => sentBy(each)['operation'] === 'ack_500');
    expect(refused?.attempts.map(({ response }) => response?.status)).toEqual([500]);
  });

  test('calls of one that answers are tried with everything', () => {
    expect(ofOdd.callsOf('concurrent').map(each => sentBy(each)['operation'])).toEqual(
      Array(8).fill('before_ack'),
    );
  });
});

describe('stdlib_tool.py', () => {
  test('is called for what was named, and never for what destroys something', async () => {
    const called = await operationsOf(stdlib);
    expect(called).toContain('ask');
    expect(called).not.toContain('delete_all');
    expect(called).not.toContain('login');
  });

  test('has a choice answered, a subscription followed to its end, and another one cancelled', () => {
    const calls = ofStdlib.callsOf('valid-call');
    const named = (name: string) => calls.find(each => sentBy(each)['operation'] === name);
    expect(typesOf(named('ask') ?? Object({ callbacks: [] }))).toEqual(['user_choice', 'tool_result']);
    expect(named('subscribe')?.cancels).toEqual([]);
    expect(ofStdlib.callsOf('subscription subscribe').map(({ cancels }) => cancels.length)).toEqual([1]);
  });

  test('survives what is malformed', () => {
    expect(ofStdlib.callsOf('malformed').map(({ attempts: [attempt] }) => attempt?.response?.status)).toEqual(
      Array(9).fill(200),
    );
    expect(ofStdlib.callsOf('malformed').at(-1)?.callbacks).toHaveLength(1);
  });
});

import { describe, expect, it } from 'vitest';
import { openSink, SINKS } from '../../peers/callback-sink.mjs';
import { openRuntime } from '../../peers/runtime.mjs';
import { eventually } from '../support/eventually.js';
import { temporaryFolder } from '../support/folder.js';
import { startMockHere } from '../support/mock.js';

/** A slow, broken or silent receiver delays only its own callbacks. */
const FIXTURES =
  'version: 1\nfixtures: [{ match: { operation: a }, reply: { payload: "{{arguments.n}}" } }]\n';
const BAD = ['hang', 'broken', 'reset', 'half', 'drip', 'endless', 'busy'] as const;
const TO_EACH = 15;

describe.concurrent('bad receivers', () => {
  it('do not affect good ones', async () => {
    await using folder = await temporaryFolder();
    await using mock = await startMockHere([await folder.write('f.yaml', FIXTURES), '-q', '--drain', '0']);
    await using runtime = await openRuntime();
    const { endpoint } = await runtime.discover(mock.url);
    const sinks = await Promise.all(BAD.map(name => openSink(SINKS[name])));
    const invoke = (n: number, callbackUrl?: string) =>
      runtime.invoke(mock.url, 'a', { n }, { endpoint, ...(callbackUrl && { callbackUrl }) });
    for (let n = 0; n < TO_EACH; n++) await Promise.all(sinks.map(({ url }) => invoke(n, url)));
    await eventually('every bad receiver was tried', () =>
      sinks.every(({ requests }) => requests.length > 0),
    );
    const good = await Promise.all(Array.from({ length: TO_EACH }, (_, n) => invoke(n)));
    const texts = await Promise.all(good.map(async call => (await call.result()).body?.['text']));
    expect(texts).toEqual(good.map((_, n) => String(n)));
    const { calls } = await mock.journal();
    expect(calls).toHaveLength(BAD.length * TO_EACH + TO_EACH);
    await Promise.all(sinks.map(sink => sink.close()));
  });

  it('--max-pending: callbacks beyond it are dropped and reported everywhere', async () => {
    await using folder = await temporaryFolder();
    await using hanging = await openSink(SINKS.hang);
    const file = await folder.write('f.yaml', FIXTURES);
    await using mock = await startMockHere([file, '--max-pending', '3', '--verify', '--drain', '0']);
    await using runtime = await openRuntime();
    for (let n = 0; n < 5; n++)
      await runtime.invoke(mock.url, 'a', { n }, { id: `c${n}`, callbackUrl: hanging.url });
    await mock.printsToStderr(/✗ a c4 .*the queue is full: 3 callbacks pending/);
    expect(mock.stderr()).toMatch(/✗ a c3 .*the queue is full/);
    const { calls } = await mock.journal();
    expect(calls.map(({ id, state }) => [id, state === 'undelivered'])).toEqual([
      ['c0', false],
      ['c1', false],
      ['c2', false],
      ['c3', true],
      ['c4', true],
    ]);
    expect(JSON.stringify(calls[4])).toContain('the queue is full');
    const { status, stderr } = await mock.stop();
    expect(stderr).toMatch(
      /^✗ undelivered callback: .*a \(c3\).*the queue is full.* \(and 1 more like it\)$/m,
    );
    expect(status).toBe(1);
  });

  it('--retries: a 5xx is retried that many times', async () => {
    await using folder = await temporaryFolder();
    await using broken = await openSink(SINKS.broken);
    await using mock = await startMockHere([await folder.write('f.yaml', FIXTURES), '--retries', '2']);
    await using runtime = await openRuntime();
    await runtime.invoke(mock.url, 'a', { n: 1 }, { callbackUrl: broken.url });
    await mock.printsToStderr(/not delivered: .*500.*attempts: 3/);
    expect(broken.requests.map(({ raw }) => raw)).toEqual(Array(3).fill(broken.requests[0]?.raw));
  });
});

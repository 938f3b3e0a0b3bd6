import { expect, test } from 'vitest';
import type { Content } from '../../src/events/content.js';
import { type CallbackListener, startCallbackListener } from '../../src/runtime/runtime.js';
import { systemClock } from '../../src/system/drafts.js';
import { acknowledged, call, KEY, RESULT } from '../events/build.js';
import { workbench } from './wire-of.js';

const OPTIONS = { host: '127.0.0.1', port: 0, allowedHosts: [], maxBody: 10_000_000 };
const LARGE = JSON.stringify({ ...RESULT, text: 'é😀"\n'.repeat(200_000) });

async function withListener(
  options: { readonly keepBodies?: boolean },
  work: (listener: CallbackListener, contents: readonly Content[]) => Promise<void>,
) {
  await using bench = workbench();
  const { log } = bench.wire;
  const contents: Content[] = [];
  log.subscribe(event => {
    if (event.kind === 'request' && event.purpose === 'callback' && event.body) contents.push(event.body);
  });
  for (const fact of [...call(), ...acknowledged()]) log.emit(fact);
  const listener = await startCallbackListener(log, bench.history, systemClock, { ...OPTIONS, ...options });
  await work(listener, contents).finally(() => listener.close());
}

async function post(listener: CallbackListener, body: string): Promise<number> {
  const { url } = listener.addressFor(KEY);
  const headers = { 'content-type': 'application/json' };
  return (await fetch(url, { method: 'POST', headers, body })).status;
}

test('the bytes of a callback are kept unless it is told otherwise', async () => {
  await withListener({}, async (listener, contents) => {
    expect(await post(listener, LARGE)).toBe(200);
    expect(Buffer.from(contents[0]?.bytes ?? []).equals(Buffer.from(LARGE))).toBe(true);
  });
});

test('without them a callback is judged just the same, and an identical one is known', async () => {
  await withListener({ keepBodies: false }, async (listener, contents) => {
    expect(await post(listener, LARGE)).toBe(200);
    expect(await post(listener, LARGE)).toBe(200);
    const [first, second] = contents;
    expect(first?.json).toEqual({ ok: true, value: JSON.parse(LARGE), notes: [] });
    expect([second?.sha256, second?.size]).toEqual([first?.sha256, Buffer.byteLength(LARGE)]);
    expect(() => first?.bytes).toThrow('not kept');
    expect(await post(listener, LARGE.slice(0, -1))).toBe(400);
  });
});

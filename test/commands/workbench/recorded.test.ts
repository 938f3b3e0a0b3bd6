import { afterAll, beforeAll, expect, test } from 'vitest';
import { createLog } from '../../../src/events/log.js';
import { eventually } from '../../e2e/support/eventually.js';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';
import { type Peer, startPeer } from '../../e2e/support/peers.js';
import { type Recording, startRecording } from '../../record/recording.js';
import { openWorkbench, type StartedEngine, startEngine, writeTranscript } from './start-engine.js';

let plain: Peer;

let folder: Folder;

let recording: Recording;

let engine: StartedEngine;

let session: ReturnType<typeof openWorkbench>;

beforeAll(async () => {
  [plain, folder] = await Promise.all([startPeer('plain'), temporaryFolder()]);
  let events = 0;
  recording = await startRecording(
    plain.url,
    {},
    createLog(() => ++events),
  ); // no message is slow, however busy the machine
  await callThrough(recording.url);
  await recording.close();
  engine = startEngine({ cwd: folder.path });
  const about = { ...engine.about, observer: 'recorder' } as const;
  await writeTranscript(folder.file('session.ndjson'), recording.events, about);
  await engine.controls.openTranscript('session.ndjson');
  session = openWorkbench(engine);
  for (const key of ['c', 'V']) session.press(key);
});

afterAll(async () => {
  await engine.close();
  await Promise.all([plain.stop(), folder[Symbol.asyncDispose]()]);
});

/** A runtime that sends everything through the recorder: a call whose subscription has two events. */
async function callThrough(url: string): Promise<void> {
  await using runtime = startEngine();
  const server = runtime.open({ kind: 'url', url });
  await runtime.stands(server, 'ready');
  const key = await runtime.call(server, 'watch', { events: 2, every_ms: 1 });
  await runtime.until(key, ({ subscription }) => subscription?.ended?.by === 'final');
}

const sees = () => session.sees(140);

test('a recorder’s transcript is reported once, from the tool’s side', () => {
  session.press('1');
  expect(sees()).toContain('2 events');
  expect(sees()).not.toContain('3 events');
  session.press('2');
  expect(sees()).not.toMatch(/sent again|delivered again|runtime-side/);
});

test('both sides are judged by their own messages, without duplicates', async () => {
  session.press('5');
  const lines = await eventually('the verdict', () => !sees().includes('checking …') && sees());
  expect(lines).toContain('✓ no problems');
  session.press('z');
  const [, passed = ''] = /Passed\n(.*?)\n[ │]*\n/s.exec(sees()) ?? [];
  expect(passed.match(/(?:TOOL|RT)-[A-Z-]+/g)).toEqual([
    ...['TOOL-ACK', 'TOOL-ASYNC', 'TOOL-ALWAYS', 'TOOL-POST', 'TOOL-GROUP', 'TOOL-ID', 'TOOL-ONCE'],
    ...['TOOL-OPAQUE', 'TOOL-SECRET', 'TOOL-SUB', 'TOOL-CLOSE', 'TOOL-DISCOVER', 'TOOL-NAMES'],
    ...['RT-OP', 'RT-ARGS', 'RT-ID', 'RT-FIELDS', 'RT-SUB', 'RT-NOTIFY', 'RT-ACK'],
  ]);
  expect(lines).not.toMatch(/sent again|delivered again/);
});

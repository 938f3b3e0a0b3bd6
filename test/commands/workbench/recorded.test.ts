import { afterAll, beforeAll, expect, test } from 'vitest';
import { systemClock } from '../../../src/system/clock.js';
import { Workbench } from '../../../src/tui/workbench/screen.js';
import { eventually } from '../../e2e/support/eventually.js';
import { type Folder, temporaryFolder } from '../../e2e/support/folder.js';
import { type Peer, startPeer } from '../../e2e/support/peers.js';
import { type Recording, startRecording } from '../../record/recording.js';
import { drawn } from '../../tui/drawn.js';
import { press } from '../../tui/workbench/form/support/pressing.js';
import { withoutStyle } from '../../tui/workbench/support/open-session.js';
import { type Bench, startBench, writeTranscript } from './bench.js';

let plain: Peer;

let folder: Folder;

let recording: Recording;

let bench: Bench;

let session: Workbench;

beforeAll(async () => {
  [plain, folder] = await Promise.all([startPeer('plain'), temporaryFolder()]);
  recording = await startRecording(plain.url);
  await callThrough(recording.url);
  await recording.close();
  bench = startBench({ cwd: folder.path });
  const about = { ...bench.about, observer: 'recorder' } as const;
  await writeTranscript(folder.file('session.ndjson'), recording.events, about);
  await bench.controls.openTranscript('session.ndjson');
  session = openSession(bench);
  keys('c', 'V');
});

afterAll(async () => {
  await bench.close();
  await Promise.all([plain.stop(), folder[Symbol.asyncDispose]()]);
});

/** A runtime that sends everything through the recorder: a call whose subscription has two events. */
async function callThrough(url: string): Promise<void> {
  await using runtime = startBench();
  const server = runtime.open({ kind: 'url', url });
  await runtime.stands(server, 'ready');
  const key = await runtime.call(server, 'watch', { events: 2, every_ms: 1 });
  await runtime.until(key, ({ subscription }) => subscription?.ended?.by === 'final');
}

function openSession({ model, controls }: Bench) {
  const supports = new Set(['text', 'diff']);
  return new Workbench({ model, controls, clock: systemClock, level: 0, supports, start: {} }, () => {});
}

function keys(...names: readonly string[]): void {
  for (const name of names) {
    session.press(press(name));
  }
}

const sees = () => drawn(session, { columns: 140, rows: 60 }).map(withoutStyle).join('\n');

test('a recorder’s transcript is reported once, from the tool’s side', () => {
  keys('1');
  expect(sees()).toContain('2 events');
  expect(sees()).not.toContain('3 events');
  keys('2');
  expect(sees()).not.toMatch(/sent again|delivered again|runtime-side/);
});

test('both sides are judged by their own messages, without duplicates', async () => {
  keys('5');
  const lines = await eventually('the verdict', () => !sees().includes('judging …') && sees());
  expect(lines).toContain('✓ no problems');
  const [, held = ''] = /(\d+) rules passed/.exec(lines) ?? [];
  expect(Number(held)).toBe(19);
  expect(lines).not.toMatch(/sent again|delivered again/);
});

import { readdir, readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import type { Event } from '../../src/events/events.js';
import { readTranscript, type Transcript } from '../../src/events/transcript-reader.js';
import { eventually } from '../e2e/support/eventually.js';
import { temporaryFolder } from '../e2e/support/folder.js';
import { startPeer } from '../e2e/support/peers.js';
import { start } from '../e2e/support/program.js';
import { isRunning } from '../support/is-running.js';

const DRIVER = new URL('../../fixtures/runtimes/node/driver.mjs', import.meta.url);

async function transcriptIn(path: string): Promise<Transcript> {
  return readTranscript((await readFile(path, 'utf8')).trimEnd().split('\n'));
}

function purposesOf(events: readonly Event[]): readonly string[] {
  return events.flatMap(event => (event.kind === 'request' ? [event.purpose] : []));
}

test('a second signal ends the process at once, without its server; the transcript is kept and named', async () => {
  await using saving = await temporaryFolder();
  await using serving = await temporaryFolder();
  await using tool = await startPeer('plain');
  const pidFile = serving.file('pid');
  const deaf = `trap '' INT TERM; while :; do sleep 0.1; done`;
  const server = `echo $$ > '${pidFile}'; echo '{"port":${tool.port}}'; ${deaf}`;
  const path = saving.file('saved.ndjson');
  const { child, ended } = start(['invoke', '--command', server, 'slow', 'ms=600000', '--save', path]);
  await tool.seen('invocation');
  const pid = Number(await readFile(pidFile, 'utf8'));
  expect(isRunning(pid)).toBe(true);
  child.kill('SIGINT');
  await tool.seen('cancel_tool_call');
  child.kill('SIGINT');
  const { stderr } = await ended;
  await eventually('the server is gone', () => !isRunning(pid));
  expect(await readdir(saving.path)).toEqual(['saved.ndjson']);
  const { header, events, faults, end } = await transcriptIn(path);
  expect({ faults, end }).toEqual({ faults: [], end: null });
  expect([header?.observer, purposesOf(events)]).toEqual([
    'runtime',
    expect.arrayContaining(['discovery', 'invocation', 'cancel']),
  ]);
  expect(stderr).toContain(`kept ${path}: incomplete, ${events.length} events\n`);
});

test.each([
  ['a second Ctrl-C', 'SIGINT'],
  ['a second SIGQUIT', 'SIGQUIT'],
] as const)(
  '%s ends check --runtime; the transcript of its scenario is kept and named',
  async (_, signal) => {
    await using folder = await temporaryFolder();
    const driver = await folder.write(
      'driver.mjs',
      `import { drive } from ${JSON.stringify(DRIVER.href)};
    for (const name of ['SIGINT', 'SIGTERM']) process.on(name, () => {});
    setInterval(() => {}, 1000);
    await drive({ input: process.stdin, output: process.stdout, env: process.env });`,
    );
    const saved = folder.file('out');
    const options = ['--scenario', 'cancel', '--save', saved, '--probe-timeout', '60s'];
    const { child, ended } = start(['check', '--runtime', `node '${driver}'`, ...options]);
    const path = `${saved}/cancel.ndjson`;
    await eventually('the scenario calls its tool', async () =>
      (await readFile(path, 'utf8').catch(() => '')).includes('"purpose":"invocation"'),
    );
    await eventually('it has ended', () => {
      child.kill(signal);
      return child.exitCode !== null || child.signalCode !== null;
    });
    const { stderr } = await ended;
    expect(child.signalCode).toBe(signal);
    expect(await readdir(saved)).toEqual(['cancel.ndjson']);
    const { events, faults, end } = await transcriptIn(path);
    expect({ faults, end }).toEqual({ faults: [], end: null });
    expect(purposesOf(events)).toContain('invocation');
    expect(stderr).toContain(`kept ${path}: incomplete, ${events.length} events\n`);
  },
);

test('SIGKILL: what a transcript has so far is readable at its path', async () => {
  await using folder = await temporaryFolder();
  await using tool = await startPeer('plain');
  const path = folder.file('saved.ndjson');
  const { child, ended } = start(['invoke', tool.url, 'slow', 'ms=600000', '--save', path]);
  await eventually('the call is acknowledged', async () => {
    const { events } = await transcriptIn(path).catch(() => ({ events: [] }));
    return events.some(event => event.kind === 'response' && event.calls !== undefined);
  });
  child.kill('SIGKILL');
  await ended;
  const { events, faults, end } = await transcriptIn(path);
  expect({ faults, end }).toEqual({ faults: [], end: null });
  expect(purposesOf(events)).toContain('invocation');
});

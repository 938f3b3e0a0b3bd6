import { expect, test } from 'vitest';
import { eventually } from '../../e2e/support/eventually.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { resultFor, startTool } from '../../e2e/support/own-tool.js';
import { startServing } from '../../support/serving.js';
import { type Bench, openWorkbench, startBench } from './bench.js';

const BEARER = 'BEARER-CANARY-4711';

const KEY = 'KEY-CANARY-4711';

const HEADERS = { authorization: `Bearer ${BEARER}`, 'x-api-key': KEY };

const ECHO = `${BEARER} and ${KEY}`;

/** Returns the text of the servers and of the newest call, in these tabs and with the bytes. */
async function shownIn(bench: Bench, columns: number, tabs: readonly string[]): Promise<string> {
  const session = openWorkbench(bench);
  const frames: string[] = [];
  for (const name of ['t', '<down>', '<down>', 'c', ...tabs, 'b', ...tabs]) {
    session.press(name);
    if (name === 'c') continue; // could select another tab
    const frame = () => session.sees(columns);
    frames.push(await eventually('it is judged', () => !frame().includes('judging') && frame()));
  }
  return frames.join('\n\n');
}

async function expectRedacted(bench: Bench, tabs: readonly string[]): Promise<void> {
  for (const columns of [60, 200]) {
    const shown = await shownIn(bench, columns, tabs);
    expect(shown).toContain('[redacted]');
    expect(shown).not.toMatch(/CANARY/);
  }
}

test('row 25: a tool that repeats the credentials in a refused acknowledgement', async () => {
  const body = `${ECHO} ${'x'.repeat(150)}${BEARER}`;
  await using tool = await startTool({ ask: { status: 400, body } });
  await using bench = startBench({ headers: HEADERS });
  const id = await bench.ready(tool.url);
  await bench.until(await bench.call(id, 'ask'));
  await expectRedacted(bench, ['1', '2', '3', '4', '5']);
});

test('row 25: a tool that repeats them in callbacks; only the result itself is shown as the model gets it', async () => {
  await using tool = await startTool({
    ask: { callbacks: call => [`{"type": "tool_result", "${ECHO}": 1}`, ECHO, resultFor(call, ECHO)] },
  });
  await using bench = startBench({ headers: HEADERS });
  const id = await bench.ready(tool.url);
  await bench.until(await bench.call(id, 'ask'));
  await expectRedacted(bench, ['2', '3', '4', '5']);
});

test('row 25: a server that repeats them instead of a toolset', async () => {
  await using serving = await startServing(403, response => response.end(ECHO));
  await using bench = startBench({ headers: HEADERS });
  const id = bench.open({ kind: 'url', url: serving.url });
  const { message, faults, hint } = await bench.stands(id, 'failed');
  expect([message, ...faults, hint].join('\n')).not.toMatch(/CANARY/);
});

test('row 25: a started server that prints them before it exits', async () => {
  await using folder = await temporaryFolder();
  await folder.write('talking.mjs', `console.error(${JSON.stringify(ECHO)}); process.exit(3);`);
  await using bench = startBench({ headers: HEADERS });
  const id = bench.open({
    kind: 'command',
    command: `'${process.execPath}' '${folder.file('talking.mjs')}'`,
  });
  const { message, faults } = await bench.stands(id, 'failed');
  expect([message, ...faults].join('\n')).toContain('[redacted]');
  expect([message, ...faults].join('\n')).not.toMatch(/CANARY/);
});

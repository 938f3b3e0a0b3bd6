import { expect, test } from 'vitest';
import { eventually } from '../../e2e/support/eventually.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { resultFor, startTool } from '../../e2e/support/own-tool.js';
import { startServing } from '../../support/serving.js';
import { openWorkbench, type StartedEngine, startEngine } from './start-engine.js';

const BEARER = 'BEARER-CANARY-4711';

const KEY = 'KEY-CANARY-4711';

const HEADERS = { authorization: `Bearer ${BEARER}`, 'x-api-key': KEY };

const ECHO = `${BEARER} and ${KEY}`;

/** Returns the text of the servers and of the newest call, in these tabs and with the bytes. */
async function shownIn(engine: StartedEngine, columns: number, tabs: readonly string[]): Promise<string> {
  const session = openWorkbench(engine);
  const frames: string[] = [];
  for (const name of ['t', '<down>', '<down>', 'c', ...tabs, 'b', ...tabs]) {
    session.press(name);
    if (name === 'c') continue; // could select another tab
    const frame = () => session.sees(columns);
    frames.push(await eventually('it is judged', () => !frame().includes('judging') && frame()));
  }
  return frames.join('\n\n');
}

async function expectRedacted(engine: StartedEngine, tabs: readonly string[]): Promise<void> {
  for (const columns of [60, 200]) {
    const shown = await shownIn(engine, columns, tabs);
    expect(shown).toContain('[redacted]');
    expect(shown).not.toMatch(/CANARY/);
  }
}

test('row 25: a tool that repeats the credentials in a refused acknowledgement', async () => {
  const body = `${ECHO} ${'x'.repeat(150)}${BEARER}`;
  await using tool = await startTool({ ask: { status: 400, body } });
  await using engine = startEngine({ headers: HEADERS });
  const id = await engine.ready(tool.url);
  await engine.until(await engine.call(id, 'ask'));
  await expectRedacted(engine, ['1', '2', '3', '4', '5']);
});

test('row 25: a tool that repeats them in callbacks; only the result itself is shown as the model gets it', async () => {
  await using tool = await startTool({
    ask: { callbacks: call => [`{"type": "tool_result", "${ECHO}": 1}`, ECHO, resultFor(call, ECHO)] },
  });
  await using engine = startEngine({ headers: HEADERS });
  const id = await engine.ready(tool.url);
  await engine.until(await engine.call(id, 'ask'));
  await expectRedacted(engine, ['2', '3', '4', '5']);
});

test('row 25: a server that repeats them instead of a toolset', async () => {
  await using serving = await startServing(403, response => response.end(ECHO));
  await using engine = startEngine({ headers: HEADERS });
  const id = engine.open({ kind: 'url', url: serving.url });
  const { message, faults, hint } = await engine.stands(id, 'failed');
  expect([message, ...faults, hint].join('\n')).not.toMatch(/CANARY/);
});

test('row 25: a started server that prints them before it exits', async () => {
  await using folder = await temporaryFolder();
  await folder.write('talking.mjs', `console.error(${JSON.stringify(ECHO)}); process.exit(3);`);
  await using engine = startEngine({ headers: HEADERS });
  const id = engine.open({
    kind: 'command',
    command: `'${process.execPath}' '${folder.file('talking.mjs')}'`,
  });
  const { message, faults } = await engine.stands(id, 'failed');
  expect([message, ...faults].join('\n')).toContain('[redacted]');
  expect([message, ...faults].join('\n')).not.toMatch(/CANARY/);
});

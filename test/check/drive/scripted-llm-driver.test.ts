import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { driverOf } from '../../../src/check/drive/driver.js';
import type { ProviderName } from '../../../src/check/drive/scripted-llm.js';
import { startMockTool } from '../../../src/mock/mock-tool.js';
import type { DriverLine, Observation } from '../../../src/protocol/driver.js';
import { systemClock } from '../../../src/system/clock.js';
import { LIMITS } from '../../../src/util/limits.js';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { isRunning } from '../../support/is-running.js';

const FIXTURES = {
  version: 1,
  fixtures: [
    { match: { operation: 'answer' }, reply: { payload: 'It is {{arguments.what}}. 👍' } },
    { match: { operation: 'fail' }, reply: { error: { message: 'no such file' } } },
    {
      match: { operation: 'picture' },
      reply: {
        result: {
          content: [
            { type: 'text', text: 'A dot:' },
            { type: 'image', data: 'AA==', mediaType: 'image/png' },
          ],
        },
      },
    },
    {
      match: { operation: 'watch' },
      reply: [
        { result: { text: 'Subscribed.', subscription: true } },
        { event: { text: 'Event 1', final: true }, on: 'demand' },
      ],
    },
  ],
};

/** Starts a tool server and an agent whose model is scripted. */
async function openAgent(provider: ProviderName, command: string) {
  const tool = await startMockTool({ fixtures: FIXTURES });
  const lines: DriverLine[] = [];
  const warnings: string[] = [];
  const driver = await driverOf(
    command,
    provider,
  )({
    clock: systemClock,
    env: { TOOL_URL: tool.url, TOOL_URLS: JSON.stringify([tool.url]), SCENARIO: 'test' },
    onLine: line => void lines.push(line),
    onWarning: message => void warnings.push(message),
  });
  const invoke = (id: string, operation: string, args = {}) =>
    driver.send({ do: 'invoke', id, operation, arguments: args });
  const isOf = (id: string) => (line: DriverLine) => 'saw' in line && 'id' in line && line.id === id;
  const result = (id: string) => expect.poll(() => lines.some(isOf(id))).toBe(true);
  const close = async () => {
    await driver.stop();
    await tool.close();
  };
  return { driver, tool, lines, warnings, invoke, result, [Symbol.asyncDispose]: close };
}

function agent(name: string): string {
  return `"${process.execPath}" "${fileURLToPath(new URL(`../../peers/agents/${name}.mjs`, import.meta.url))}"`;
}

test.each<[ProviderName, Observation['saw'], string]>([
  ['anthropic', 'failure', 'A dot:\n[image image/png]'],
  ['openai', 'model', 'A dot:\n'],
])('an agent on the SDK of %s calls tools and ends', async (provider, failure, picture) => {
  await using opened = await openAgent(provider, agent(provider));
  const { driver, lines, warnings, invoke, result } = opened;
  invoke('call_1', 'answer', { what: '42' });
  invoke('call_2', 'fail');
  invoke('call_3', 'picture');
  await result('call_3');
  invoke('call_4', 'watch');
  await result('call_4');
  expect(opened.tool.fire('call_4')).toBe(1);
  invoke('call_5', 'answer', { what: 'over' });
  await result('call_5');
  driver.send({ do: 'cancel-subscription', id: 'call_4' });
  await result('cancel_call_4');
  driver.send({ do: 'end' });
  expect(await driver.ended).toBe('ended with status 0');
  const notices = opened.tool.events.filter(event => event.kind === 'request' && event.purpose === 'cancel');
  expect(notices).toMatchObject([{ body: { json: { value: { tool_call_id: 'call_4' } } } }]);
  expect(lines.slice(1)).toEqual([
    { can: ['cancel-subscription'] },
    { saw: 'model', id: 'call_1', text: 'It is 42. 👍' },
    { saw: failure, id: 'call_2', text: 'Error: no such file' },
    { saw: 'model', id: 'call_3', text: picture },
    { saw: 'model', id: 'call_4', text: 'Subscribed.' },
    { saw: 'model', id: 'call_5', text: 'It is over. 👍' },
    { saw: 'model', text: 'Event 1' },
    { saw: 'model', id: 'cancel_call_4', text: 'canceled' },
  ]);
  expect(warnings).toEqual([]);
});

test('an agent that never ends, writes without end and left a child behind is ended with it', async () => {
  await using opened = await openAgent('openai', `sleep 1000 & echo $! >&2; exec yes "${'x'.repeat(100)}"`);
  const { driver } = opened;
  await expect.poll(() => driver.lastLines()).toHaveLength(1);
  const child = Number(driver.lastLines()[0]);
  expect(process.kill(child, 0)).toBe(true);
  await driver.stop();
  expect(await driver.ended).toMatch(/^ended with SIG/);
  await expect.poll(() => isRunning(child)).toBe(false);
});

test('an agent that sends too much to the model is stopped', async () => {
  const script = `
    const url = process.env.ANTHROPIC_BASE_URL + '/messages';
    const ask = content => fetch(url, { method: 'POST', body: JSON.stringify({ model: 'm', tools: [{ name: 'ping' }], messages: [{ role: 'user', content }] }) });
    ask('x');
    setTimeout(() => ask(Array.from({ length: 10_005 }, (_, index) => ({ type: 'text', text: String(index) }))), 300);
  `;
  await using folder = await temporaryFolder();
  await using opened = await openAgent('anthropic', `node ${await folder.write('flood.mjs', script)}`);
  expect(await opened.driver.ended).toBe('wrote more than 10000 lines; it was stopped');
  expect(opened.lines).toHaveLength(LIMITS.driverLines.value);
});

import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../../src/check/drive/run.js';
import type { Check } from '../../../src/check/report.js';
import { LIMITS } from '../../../src/util/limits.js';
import { runPeculiar } from '../../peers/agents/peculiar.mjs';
import { agentHere, checksOfRuntime } from '../support/drivers.js';
import { runHere } from '../support/in-process.js';

const AGENT = fileURLToPath(new URL('../../peers/agents/peculiar.mjs', import.meta.url));

/** Checks the agent without an SDK, with these habits, as a process. */
function checkAgent(habits: string, scenarios: readonly string[], ...options: readonly string[]) {
  const selected = scenarios.flatMap(name => ['--scenario', name]);
  const command = ['check', '--runtime', `node "${AGENT}" ${habits}`, '--model', 'openai'];
  return runHere([...command, ...selected, ...options]);
}

/** The rows by their ids, for the agent in this process. */
async function rowsOf(habits: string, names: readonly string[]): Promise<Readonly<Record<string, Check>>> {
  const open = agentHere(agent => runPeculiar(habits.split(' '), agent));
  const scenarios = SCENARIOS.filter(({ name }) => names.includes(name));
  const checks = await checksOfRuntime(open, { scenarios });
  return Object.fromEntries(checks.map(check => [check.id, check]));
}

describe('an agent that', () => {
  test('takes longer than --probe-timeout between discovery and its first request is waited for', async () => {
    const limit = ['--probe-timeout', '1500ms'];
    const { status, stdout } = await checkAgent('late', ['result', 'choice'], ...limit, '-q');
    expect(stdout).toContain('✓ passed · 2 scenarios');
    expect(status).toBe(0);
  });

  test('ends without closing its thread does no wrong, since nothing asked it to', async () => {
    const rows = await rowsOf('leaves', ['result']);
    expect(rows['RT-NOTIFY']).toMatchObject({ status: 'not-applicable' });
    expect(rows['RT-TEXT']).toMatchObject({ status: 'pass' });
  });

  test('closes its thread at some servers only breaks RT-NOTIFY', async () => {
    const rows = await rowsOf('half', ['duplicate-operations']);
    expect(rows['RT-NOTIFY']).toMatchObject({
      status: 'fail',
      reason: 'the server of the toolset "two" got no close_thread notice',
    });
  });

  test('stops at a tool that it does not have breaks no rule, and dispatches nothing', async () => {
    const toolsets = ['invalid-toolsets', 'changing-toolset', 'duplicate-operations'];
    const rows = await rowsOf('stops', ['unknown-operation', ...toolsets]);
    const ids = ['RT-OP', 'RT-TOOLSET', 'RT-CACHE'];
    expect(ids.map(id => rows[id]?.status)).toEqual(['pass', 'pass', 'pass']);
    expect(Object.values(rows).filter(({ status }) => /fail|warn|could-not-run/.test(status))).toEqual([]);
  });

  test('ends before it gets the invalid calls passes no rule about them', async () => {
    const rows = await rowsOf('one ends-3', ['arguments']);
    expect(rows['RT-ARGS']).toMatchObject({
      status: 'could-not-run',
      reason: expect.stringContaining('the runtime did not answer a call of the model'),
    });
  });

  test('runs one call of a message is asked for each of the others', async () => {
    const rows = await rowsOf('one', ['arguments']);
    expect(rows['RT-ARGS']).toMatchObject({
      status: 'warn',
      calls: [4, 5, 6].map(number => ({ id: `call_${number}` })),
    });
  });

  test('changes the text of results gets to see how', async () => {
    const rows = await rowsOf('wraps', ['result']);
    expect(rows['RT-TEXT']).toMatchObject({
      status: 'fail',
      reason: 'the model got another text',
      expected: '"the answer is 42"',
      actual: '"Observation:␊the answer is 42"',
    });
  });

  test('asks the model for what it does not serve is not judged; the report begins with the request', async () => {
    const { status, stdout } = await checkAgent('embeds', ['result', 'texts'], '--probe-timeout', '2s');
    const cause =
      'the agent got status 404 from the scripted model: the model does not serve POST /v1/embeddings';
    expect(stdout).toMatch(new RegExp(`^.*\n\nNotes\n  ${cause}`));
    const rules = 'RT-OP, RT-ARGS, RT-ID, RT-FIELDS, RT-TEXT, RT-ACK';
    expect(stdout).toMatch(
      new RegExp(`\n\nCould not run\n\\? ${rules}\n    ${cause}.*\n    scenarios result, texts\n\nN`),
    );
    expect(status).toBe(3);
  });

  test('goes on without what the model does not serve passes', async () => {
    const { status, stdout } = await checkAgent('copes', ['result', 'texts', 'close']);
    expect(stdout).toContain('the model does not serve POST /v1/embeddings');
    expect(stdout).toContain('✓ passed');
    expect(status).toBe(0);
  });

  test.each([
    ['goes on without what the model does not serve', 'copes wraps', 'the model got another text'],
    ['asks for it after the violation', 'wraps embeds-3', 'the model got another text'],
  ])('%s is judged as any other', async (_, habits, reason) => {
    const rows = await rowsOf(habits, ['texts']);
    expect(rows['RT-TEXT']).toMatchObject({ status: 'fail', reason: expect.stringContaining(reason) });
  });

  test('goes on without what the model does not serve, and leaves out notices, breaks RT-NOTIFY', async () => {
    const rows = await rowsOf('copes half', ['duplicate-operations']);
    expect(rows['RT-NOTIFY']).toMatchObject({ status: 'fail' });
  });

  test('gives the model the error of such a request in place of a result is not accused', async () => {
    const rows = await rowsOf('reports', ['result']);
    expect(rows['RT-TEXT']).toMatchObject({
      status: 'could-not-run',
      reason: expect.stringContaining('the model does not serve POST /v1/embeddings'),
    });
    expect(Object.values(rows).filter(({ status }) => status === 'fail')).toEqual([]);
  });

  test('sends requests to the model without end is stopped', async () => {
    const { status, stdout, stderr } = await checkAgent('chats', ['result'], '--probe-timeout', '60s');
    expect(stdout + stderr).toContain(
      `the runtime sent more than ${LIMITS.scenarioRequests.value} requests; it was stopped`,
    );
    expect(status).toBe(3);
  });

  test('gives the model events only after its turn is not made to wait for them', async () => {
    const rows = await rowsOf('hosts', ['subscription-foreign', 'subscription-canceled-by-model']);
    expect(rows['RT-SUB']).toMatchObject({ status: 'pass' });
  });

  test('accepts events and gives the model none, in its turn or after it, breaks RT-SUB', async () => {
    const rows = await rowsOf('deaf', ['subscription-foreign']);
    expect(rows['RT-SUB']).toMatchObject({
      status: 'fail',
      reason: 'an event of an open subscription did not reach the model',
    });
  });
});

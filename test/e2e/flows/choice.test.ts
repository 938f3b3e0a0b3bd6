import { randomUUID } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { flowTools } from '../support/flow-tools.js';
import { arrivalsOf, folded } from '../support/folded.js';
import { runHere } from '../support/in-process.js';
import { argv } from '../support/program.js';
import { invokeJsonHere, verdicts, warningIds } from '../support/report.js';

/** RT-CHOICE: the tool asks, the user picks, the tool goes on. */
const tool = flowTools('stdlib', 'mock', 'odd');

const choicesTo = (name: 'stdlib' | 'mock', id: string) => tool(name).heard('choice', { id });

describe.concurrent.each(['stdlib', 'mock'] as const)('choice, asked by %s', name => {
  it.each([
    ['its label', 'production', 1],
    ['its index', '2', 2],
    ['default', 'default', 0],
  ])('--choose with %s: posts the selection and prints the result', async (_, choose, selected) => {
    const id = randomUUID();
    const { status, report } = await invokeJsonHere(
      argv`${tool(name).url} ask --choose ${choose} --id ${id}`,
    );
    const label = ['staging', 'production', 'neither'][selected];
    expect(status).toBe(0);
    expect(report.llm?.text).toBe(`Chosen: ${label}`);
    expect(verdicts(report)).toEqual(['holds 200', 'settles 200']);
    expect(report.choices).toEqual([
      expect.objectContaining({ prompt: 'Which environment?', selected, by: 'flag' }),
    ]);
    expect(warningIds(report)).toEqual([]);
    expect(await choicesTo(name, id)).toEqual([{ id, selected }]);
  });

  it.each(['3', 'nowhere', '-1'])('%s matches no choice: exit 6, nothing is posted', async choose => {
    const id = randomUUID();
    const { status, report } = await invokeJsonHere(
      argv`${tool(name).url} ask --choose=${choose} --id ${id}`,
    );
    expect(status).toBe(6);
    expect(report.error).toMatchObject({
      code: 'decision-needed',
      message: `--choose ${choose} is not one of the choices that the tool offers`,
      hint: expect.stringMatching(/0 staging.*1 production.*2 neither/),
    });
    expect(await choicesTo(name, id)).toEqual([]);
  });

  it('without a terminal: exit 6, nothing is posted', async () => {
    const id = randomUUID();
    const { status, stdout, stderr } = await runHere(argv`invoke ${tool(name).url} ask --id ${id} -o text`);
    expect({ status, stdout }).toEqual({ status: 6, stdout: '' });
    expect(stderr).toMatch(/^the tool asks: Which environment\?$/m);
    expect(await choicesTo(name, id)).toEqual([]);
  });

  it('-o ndjson: question, decision, selection and result, in this order', async () => {
    const ended = await runHere(argv`invoke ${tool(name).url} ask --choose 1 -o ndjson`);
    const { events, exchange, faults } = folded(ended.stdout);
    expect(faults).toEqual([]);
    expect(arrivalsOf(exchange)).toEqual(['user_choice holds 200', 'tool_result settles 200']);
    expect(events).toContainEqual(
      expect.objectContaining({ kind: 'decided', what: 'choice', value: 1, by: 'flag' }),
    );
    const wanted = ['callback', 'choice', 'callback'];
    const requests = events.flatMap(event => (event.kind === 'request' ? [event.purpose] : []));
    expect(requests.filter(purpose => wanted.includes(purpose))).toEqual(wanted);
  });
});

const ANSWERED = ['--choose', 'Yes'];

describe.concurrent.each(['odd', 'mock'] as const)('choice, a response_url of %s that is dead', name => {
  it.each([
    ['choice_dead', 'ECONNREFUSED'],
    ['choice_link_local', 'REFUSED_ADDRESS'],
  ])('%s: a warning, and the call waits until its timeout', async (operation, code) => {
    const call = [tool(name).url, operation, ...ANSWERED, '--timeout', '1s'];
    const { status, report, stderr } = await invokeJsonHere(call);
    expect(status).toBe(7);
    const [meanwhile] = stderr.split('error: timed out after');
    expect(meanwhile).toContain(`response_url was not answered (${code})`);
    expect(warningIds(report)).toContain('TOOL-CHOICE');
    expect(report.outcome).toMatchObject({ type: 'timeout', basis: 'ours' });
  });
});

describe.concurrent('choice, a broken response_url', () => {
  it('is a warning, and the call still gets its result', async () => {
    const { status, stdout, stderr } = await runHere(argv`invoke ${tool('odd').url} choice_lost ${ANSWERED}`);
    expect(status).toBe(5);
    expect(stdout).toMatch(/^Error: no one answered\./);
    expect(stderr).toMatch(/response_url was answered 404 instead of 200.*\[TOOL-CHOICE\]/);
  });
});

it.concurrent('a default out of range is refused with 400, and no question is asked', async () => {
  const { status, report, stderr } = await invokeJsonHere(argv`
    ${tool('odd').url} choice_bad_default ${ANSWERED}
  `);
  expect(status).toBe(0);
  expect(report.llm?.text).toBe('choice_bad_default done');
  expect(verdicts(report)).toEqual(['rejected 400', 'settles 200']);
  expect(warningIds(report)).toEqual(['TOOL-POST']);
  expect(stderr).toMatch(/\$\.default: is not the index of one of the choices/);
});

import { expect, test } from 'vitest';
import { checksOf } from '../../src/check/judge.js';
import { parseFixtures } from '../../src/fixtures/read-fixtures.js';
import { startMockTool } from '../../src/mock/mock-tool.js';
import { findingsIn } from '../e2e/support/checking.js';
import { type Probing, probing } from './probing.js';

const FIXTURES = parseFixtures({
  version: 1,
  toolset: {
    name: 'two',
    tools: ['slow', 'quick'].map(name => ({
      name,
      description: '',
      inputSchema: { type: 'object', properties: { n: { type: 'integer', minimum: 1 } }, required: ['n'] },
      annotations: { readOnly: true },
    })),
  },
  fixtures: [
    { match: { operation: 'slow' }, reply: { delay: { min: 0, max: 60 }, payload: 'done' } },
    { match: { operation: 'quick' }, reply: { delay: { min: 0, max: 30 }, payload: 'done' } },
  ],
});

const plansOf = ({ evidence }: Probing) =>
  evidence.plans.map(({ plan, calls = [], checks }) => `${plan} ${calls} ${checks}`).sort();
const operationsOf = ({ evidence }: Probing) =>
  evidence.calls.map(({ key, tool }) => `${key}: ${tool?.name}`).sort();

const verdictsOf = ({ evidence }: Probing) =>
  findingsIn(checksOf('tool', [evidence], { skip: new Set(['TOOL-ACK']) })).map(
    ({ id, status }) => `${id}: ${status}`,
  );

/** Ignores late acknowledgements and their repeats, which depend on the load of the machine. */
const isSteady = (id: string) => id !== 'TOOL-ACK';

test('several runs make the same calls of the same operations with the same names, and get the same verdicts', async () => {
  await using tool = await startMockTool({ fixtures: FIXTURES });
  const runs = await Promise.all(Array.from({ length: 3 }, () => probing(tool.url, { wants: isSteady })));
  const [first, ...others] = runs;
  if (!first) throw new Error('without run');
  expect(plansOf(first).length).toBeGreaterThan(50);
  for (const other of others) {
    expect(plansOf(other)).toEqual(plansOf(first));
    expect(operationsOf(other)).toEqual(operationsOf(first));
    expect(verdictsOf(other)).toEqual(verdictsOf(first));
  }
});

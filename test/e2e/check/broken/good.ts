import { parseFixtures } from '../../../../src/fixtures/read-fixtures.js';
import { type MockTool, startMockTool } from '../../../../src/mock/mock-tool.js';
import { type Front, startFront, type Twist } from './front.js';

/** An operation that does all well, and everything is tried with; its only argument is a number. */
const READ = {
  name: 'read',
  description: 'Reads a line',
  inputSchema: {
    type: 'object',
    properties: { line: { type: 'integer', minimum: 1 } },
    required: ['line'],
    additionalProperties: false,
  },
  annotations: { readOnly: true },
};

const ODD = {
  name: 'odd',
  description: 'Does what no tool may',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
};

/** A tool that does all well, but for `odd`, which is played as it is written: a fixture without its `match`. */
export function startWithOdd(fixture: object = { reply: { payload: 'done' } }): Promise<MockTool> {
  const fixtures = parseFixtures({
    version: 1,
    toolset: { name: 'broken', tools: [READ, ODD] },
    fixtures: [
      { match: { operation: 'read' }, reply: { payload: 'a line' } },
      { match: { operation: 'odd' }, ...fixture },
    ],
  });
  return startMockTool({ fixtures });
}

/** The same behind a front that breaks something. */
export async function startTwisted(twist: Twist, fixture?: object): Promise<Front> {
  return startFront(await startWithOdd(fixture), twist);
}

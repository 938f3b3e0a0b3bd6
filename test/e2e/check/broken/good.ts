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

const odd = (name: string) => ({
  name,
  description: 'Does what no tool may',
  inputSchema: { type: 'object' },
  annotations: { readOnly: true },
});

/** A tool that does all well, but for its odd operations, which are played as they are written: fixtures without their `match`. */
export function startWithOdd(odds: Readonly<Record<string, object>>): Promise<MockTool> {
  const fixtures = parseFixtures({
    version: 1,
    toolset: { name: 'broken', tools: [READ, ...Object.keys(odds).map(odd)] },
    fixtures: [
      { match: { operation: 'read' }, reply: { payload: 'a line' } },
      ...Object.entries(odds).map(([operation, fixture]) => ({ match: { operation }, ...fixture })),
    ],
  });
  return startMockTool({ fixtures });
}

/** The same behind a front that breaks something. */
export async function startTwisted(
  twist: Twist,
  fixture: object = { reply: { payload: 'done' } },
): Promise<Front> {
  return startFront(await startWithOdd({ odd: fixture }), twist);
}

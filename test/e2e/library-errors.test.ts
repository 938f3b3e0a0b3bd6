import { expect, test } from 'vitest';
import { connect, readFixtures, startMockTool } from '../../src/index.js';

// Test runners print the message of an error that a test did not catch, and nothing else.

const NOPE = 'version: 1\nfixtures:\n  - match: { operation: nope }\n    replyy: hi\n';

test('an error of fixtures has its faults and its hint in the message', async () => {
  const error = await readFixtures([{ path: 'a.yaml', text: NOPE }]).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: 'invalid-fixtures', faults: [expect.stringContaining('a.yaml:4:5')] });
  expect(error).toHaveProperty(
    'message',
    expect.stringMatching(/^1 error in the fixtures\n {2}a\.yaml:4:5 .*unknown field.*"reply"\?\nhint: /),
  );
  const content = { version: 1, fixtures: [{ match: { operation: 'nope' }, replyy: 'hi' }] };
  await expect(startMockTool({ fixtures: content })).rejects.toThrow(/\n {2}.*\$\.fixtures\[0\]\.replyy/);
});

test('an error of arguments has its faults in the message', async () => {
  const inputSchema = { type: 'object', properties: { count: { type: 'integer' } } };
  const toolset = { name: 't', tools: [{ name: 'count', description: 'Counts', inputSchema }] };
  const reply = { payload: 'counted' };
  const fixtures = { version: 1, toolset, fixtures: [{ match: { operation: 'count' }, reply }] };
  await using tool = await startMockTool({ fixtures });
  await using connection = await connect(tool.url);
  await expect(connection.invoke('count', { count: 'x' })).rejects.toThrow(/\n {2}\$\.count: .*integer/);
});

test('a transcript in place of fixtures is named as one; a path is no command line', async () => {
  const fixtures = new URL('../../fixtures/transcripts/diff.ndjson', import.meta.url);
  await expect(startMockTool({ fixtures })).rejects.toThrow(
    /diff\.ndjson is a transcript, and no fixtures\nhint: fixturesOfTranscript makes/,
  );
  await expect(startMockTool({ fixtures: 'no-such.yaml' })).rejects.toThrow(/a folder of them\.$/);
});

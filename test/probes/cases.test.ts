import { expect, test } from 'vitest';
import type { CallEvidence } from '../../src/check/call.js';
import type { Case } from '../../src/fixtures/check-files.js';
import { type ProbeOptions, probing } from './probing.js';
import { operation, post, resultOf, startRawTool } from './tools.js';

/** A tool with one file: `edit` replaces its text, and `read` returns it. */
function startEditor() {
  let text = 'milk';
  return startRawTool({
    toolset: url => ({
      name: 'editor',
      endpoint: `${url}/invoke`,
      tools: [operation('read'), operation('list'), operation('edit', {})],
    }),
    invoked(invocation, response) {
      response.end();
      if (invocation['operation'] === 'edit') text = String(Object(invocation['arguments']).text);
      void post(invocation['callback_url'], resultOf(invocation, { text }));
    },
  });
}

const caseOf = (name: string, args: Case['arguments'] = {}): Case => ({
  ...{ place: 'c.yaml:1', operation: name, arguments: args, offers: [] },
});

const CASES = [
  caseOf('edit', { text: 'beer' }),
  caseOf('read'),
  caseOf('edit', { text: 'wine' }),
  caseOf('read'),
];

async function checkEditor(options: Partial<ProbeOptions>) {
  await using tool = await startEditor();
  return await probing(tool.url, { wants: id => id === 'TOOL-CALLID', cases: CASES, ...options });
}

const begins = ({ attempts: [attempt] }: CallEvidence) => attempt?.request.seq ?? -Infinity;
const ends = ({ results: [result] }: CallEvidence) => result?.lastSeq ?? Infinity;

test.each([[[]], [['edit']]])(
  'the cases are called one after another, in the order of the file, before all other calls (--operation %j)',
  async operations => {
    const { callsOf, evidence } = await checkEditor({ operations });
    const calls = CASES.map((_, index) => callsOf(`case ${index}`)[0] ?? expect.unreachable());
    const others = evidence.calls.filter(call => !calls.includes(call));
    expect(others.map(({ invocation }) => invocation?.operation)).toEqual(
      expect.arrayContaining(['read', 'list']),
    );
    for (const [index, call] of calls.entries())
      for (const next of index + 1 < calls.length ? calls.slice(index + 1) : others)
        expect(begins(next)).toBeGreaterThan(ends(call));
    expect(calls.map(({ results }) => results[0]?.message)).toMatchObject(
      ['beer', 'beer', 'wine', 'wine'].map(text => ({ text })),
    );
  },
);

test('the progress counts the cases, then the probes', async () => {
  const progress: string[] = [];
  await checkEditor({ onProgress: (done, total, name) => void progress.push(`${done} of ${total} ${name}`) });
  expect(progress.slice(0, 5)).toEqual([
    ...['0 of 4 cases', '1 of 4 cases', '2 of 4 cases', '3 of 4 cases'],
    '0 of 3 valid-call',
  ]);
});

test('a silent case does not shorten the time limit of the following ones; after three, the tool counts as silent', async () => {
  await using tool = await startRawTool({
    toolset: url => ({ name: 'mute', endpoint: `${url}/invoke`, tools: [operation('wait', {})] }),
  });
  const cases = Array.from({ length: 4 }, () => caseOf('wait'));
  const { eventsOfKind } = await probing(tool.url, { wants: () => false, probeTimeoutMs: 1_100, cases });
  expect(eventsOfKind('expired').map(({ afterMs }) => afterMs)).toEqual([1_100, 1_100, 1_100, 1_000]);
});

import { randomUUID } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openRuntime, type Runtime } from '../peers/runtime.mjs';
import { publishedSchema } from '../support/published-schema.js';
import { flowTools } from './support/flow-tools.js';
import { temporaryFolder } from './support/folder.js';
import { type Here, runHere, startHere } from './support/in-process.js';
import { argv } from './support/program.js';

/** What the package publishes about its outputs, held against what real runs write. */
const tool = flowTools('plain', 'mock', 'odd');
let browser: Runtime;
beforeAll(async () => {
  browser = await openRuntime();
});
afterAll(() => browser.close());

const report = publishedSchema('report');
const transcript = publishedSchema('transcript');

const valuesIn = (ndjson: string): unknown[] =>
  ndjson
    .split('\n')
    .filter(line => line !== '')
    .map(line => JSON.parse(line));

async function expectTranscript(path: string): Promise<void> {
  const lines = valuesIn(await readFile(path, 'utf8'));
  expect(lines.length).toBeGreaterThan(2);
  expect(lines.flatMap(transcript.faultsOf)).toEqual([]);
}

const FLOWS: readonly (readonly ['plain' | 'mock' | 'odd', readonly string[]])[] = [
  ['plain', ['edit_file', 'path=a.txt']],
  ['plain', ['fail']],
  ['plain', ['no_such_operation']],
  ['mock', ['ask', '--choose', '1']],
  ['mock', ['ask']],
  ['odd', ['choice_dead', '--choose', 'Yes', '--timeout', '500ms']],
  ['mock', ['watch', '--follow']],
  ['mock', ['watch']],
  ['odd', ['event_after_final', '--follow', '--linger', '200ms']],
  ['odd', ['event_unasked', '--linger', '200ms']],
  ['mock', ['paint']],
  ['odd', ['unknown_view']],
  ['mock', ['consent_in_the_open']],
  ['mock', ['two_results', '--linger', '200ms']],
  ['odd', ['silent', '--timeout', '500ms']],
  ['odd', ['forged_id', '--timeout', '500ms']],
  ['odd', ['hostile_text']],
  ['odd', ['bom']],
  ['odd', ['ack_400']],
  ['mock', ['slow', 'ms=800', '--timeout', '500ms', '--linger', '800ms']],
  ['mock', ['watch', 'associative=every_second', '--follow', '--ancestor', 'root']],
  ['plain', ['ancestors', '--ancestor', 'root', '--ancestor', 'parent', '--group-id', 'child']],
];

/** Flows in which someone does something meanwhile; each with what it must come to. */
type Meanwhile = (call: Here, id: string) => Promise<unknown>;
const visiting =
  (decision: 'grant' | 'refuse'): Meanwhile =>
  async call =>
    browser.visitConsent(await call.prints(/^visit this URL to continue: (\S+)$/m), decision);

const MET: readonly (readonly [string, readonly string[], Meanwhile, object])[] = [
  ['oauth, granted', ['sign_in'], visiting('grant'), { outcome: { type: 'success' } }],
  ['oauth, refused', ['sign_in'], visiting('refuse'), { outcome: { type: 'error' } }],
  [
    'cancelled',
    ['work'],
    async (call, id) => {
      await tool('mock').hears('invocation', { id });
      call.interrupt();
    },
    { outcome: { type: 'canceled' } },
  ],
  [
    'a subscription, cancelled',
    ['watch', 'events=1000', '--follow', '-v'],
    async call => {
      await call.prints(/Event 2 of 1000/);
      call.interrupt();
    },
    { subscription: { ended: 'cancel' } },
  ],
];

describe.concurrent('the report and the transcript of a run fit the published schemas', () => {
  it.each(FLOWS)('%s: %j', async (name, call) => {
    await using folder = await temporaryFolder();
    const path = folder.file('run.ndjson');
    const { stdout } = await runHere(argv`invoke ${tool(name).url} ${call} -o json --save ${path}`);
    expect(report.faultsOf(JSON.parse(stdout))).toEqual([]);
    await expectTranscript(path);
  });

  it.each(MET)('%s', async (_, call, meanwhile, expected) => {
    await using folder = await temporaryFolder();
    const path = folder.file('run.ndjson');
    const id = randomUUID();
    const live = startHere(argv`invoke ${tool('mock').url} ${call} --id ${id} -o json --save ${path}`);
    await meanwhile(live, id);
    const { stdout } = await live.ended;
    expect(JSON.parse(stdout)).toMatchObject(expected);
    expect(report.faultsOf(JSON.parse(stdout))).toEqual([]);
    await expectTranscript(path);
  });

  it('denied by a policy', async () => {
    await using folder = await temporaryFolder();
    const policy = await folder.write('policy.json', '{"version":1,"deny":["edit_file"]}');
    const call = ['invoke', tool('plain').url, 'edit_file', 'path=a', '--policy', policy];
    const [json, ndjson] = await Promise.all(
      ['json', 'ndjson'].map(output => runHere(argv`${call} -o ${output}`)),
    );
    expect(json?.status).toBe(5);
    expect(report.faultsOf(JSON.parse(json?.stdout ?? ''))).toEqual([]);
    expect(valuesIn(ndjson?.stdout ?? '').flatMap(transcript.faultsOf)).toEqual([]);
  });
});

it('the report of many calls fits too', async () => {
  const call = ['edit_file', 'path=a.txt', '--repeat', '3', '-o', 'json'];
  const { stdout } = await runHere(argv`invoke ${tool('plain').url} ${call}`);
  expect(JSON.parse(stdout)).toMatchObject({ summary: { calls: 3 } });
  expect(report.faultsOf(JSON.parse(stdout))).toEqual([]);
});

it("the mock's journal fits too", async () => {
  await runHere(argv`invoke ${tool('mock').url} ask --choose 1`);
  const answer = await fetch(`${tool('mock').url}/__mock__/journal`, {
    headers: { accept: 'application/x-ndjson' },
  });
  const lines = valuesIn(await answer.text());
  expect(lines.length).toBeGreaterThan(5);
  expect(lines.flatMap(transcript.faultsOf)).toEqual([]);
});

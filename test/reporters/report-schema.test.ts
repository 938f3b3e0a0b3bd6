import { describe, expect, test } from 'vitest';
import { invokeReport } from '../../src/render/outputs/call-report.js';
import { jsonRepeats } from '../../src/render/outputs/repeats.js';
import { jsonReporter } from '../../src/render/outputs/reporter.js';
import type { Trouble } from '../../src/render/outputs/trouble.js';
import { acknowledged, call, ENDPOINT, eventsOf, INVOCATION, resultArrives } from '../events/build.js';
import { FLOWS } from '../render/flows.js';
import { publishedSchema } from '../support/published-schema.js';
import { report } from './report.js';

const { faultsOf } = publishedSchema('report');
const TROUBLE: Trouble = { code: 'usage', message: 'it failed', hint: 'Fix it.', faults: ['$.a: no'] };

async function reported(name: string, trouble: Trouble | null = null): Promise<Record<string, unknown>> {
  const { stdout } = await report(
    page => jsonReporter(page, ending => invokeReport(ending, new Set(['diff', 'text']))),
    eventsOf(...(FLOWS[name] ?? [])),
    { trouble },
  );
  return JSON.parse(stdout);
}

describe('accepts the report of each flow', () => {
  test.each(Object.keys(FLOWS))('%s', async name => {
    expect(faultsOf(await reported(name))).toEqual([]);
    expect(faultsOf(await reported(name, TROUBLE))).toEqual([]);
  });
});

test('accepts the report of many calls', async () => {
  const other = call({ invocation: { ...INVOCATION, id: 'other' } }).map(each => ({
    ...each,
    calls: ['other'],
  }));
  const { stdout } = await report(
    page => jsonRepeats(page, new Set(['text'])),
    eventsOf(call(), other, acknowledged(), resultArrives()),
    { trouble: TROUBLE },
  );
  expect(JSON.parse(stdout)).toMatchObject({ calls: [{ endpoint: ENDPOINT }], summary: { calls: 1 } });
  expect(faultsOf(JSON.parse(stdout))).toEqual([]);
});

describe('rejects', () => {
  test.each<[string, Record<string, unknown>]>([
    ['a member that is not in it', { more: 1 }],
    ['a member of another type', { forgotten: '0' }],
    ['an unknown verdict', { callbacks: [{ type: null, ms: 1, verdict: 'x', status: 200, bytes: 1 }] }],
    ['an outcome without its basis', { outcome: { type: 'success' } }],
    ['no warnings', { warnings: undefined }],
  ])('%s', async (_, change) => {
    const { warnings, ...rest } = { ...(await reported('a subscription')), ...change };
    expect(faultsOf({ ...rest, ...(warnings !== undefined && { warnings }) })).not.toEqual([]);
  });
});

import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { SCENARIOS } from '../../src/check/drive/run.js';
import type { RequestEvent } from '../../src/events/events.js';
import { readTranscript } from '../../src/events/transcript-reader.js';
import { readCallback } from '../../src/protocol/callbacks.js';
import { readJson } from '../../src/util/json.js';
import { valueAt } from '../../src/util/values.js';
import { startPeer } from '../e2e/support/peers.js';
import { openRuntime } from '../peers/runtime.mjs';
import { publishedSchema } from '../support/published-schema.js';

/** The published schemas of the protocol's messages, and messages that tools and runtimes really send. */

const FOLDER = new URL('../../fixtures/transcripts/', import.meta.url);

const transcripts = readdirSync(FOLDER).map(file =>
  readTranscript(readFileSync(new URL(file, FOLDER), 'utf8').split('\n')),
);

const bodiesOf = (purpose: RequestEvent['purpose']): unknown[] =>
  transcripts
    .flatMap(({ events }) => events)
    .flatMap(event =>
      event.kind === 'request' && event.purpose === purpose && event.body?.json.ok
        ? [event.body.json.value]
        : [],
    );

describe('of the transcripts in the package', () => {
  test.each([
    ['invocation', 'invocation'],
    ['callbacks', 'callback'],
  ] as const)('the schema %s accepts each %s', (name, purpose) => {
    const bodies = bodiesOf(purpose);
    expect(bodies.length).toBeGreaterThan(8);
    expect(bodies.flatMap(body => publishedSchema(name).faultsOf(body))).toEqual([]);
  });
});

describe.each([
  ['plain', 'edit_file'],
  ['stdlib', 'edit_file'],
  ['odd', 'echo'],
] as const)('of the peer %s', (name, operation) => {
  test('the schemas accept the toolset, an invocation by the peer that plays a runtime, and the callbacks', async () => {
    await using peer = await startPeer(name);
    await using runtime = await openRuntime();
    const toolset = await runtime.discover(peer.url);
    const call = await runtime.invoke(peer.url, operation, {});
    await call.result();
    expect(publishedSchema('toolset').faultsOf(toolset)).toEqual([]);
    expect(publishedSchema('invocation').faultsOf(call.invocation)).toEqual([]);
    expect(call.callbacks.flatMap(({ body }) => publishedSchema('callbacks').faultsOf(body))).toEqual([]);
  });
});

test('the schemas accept null in place of what is optional, as the reference sends it', () => {
  const result = { type: 'tool_result', group_id: 't', id: 'c', call_id: null, text: 'ok' };
  const nulls = { content: null, display_as: null, subscription: null };
  expect(publishedSchema('callbacks').faultsOf({ ...result, ...nulls })).toEqual([]);
  expect(publishedSchema('callbacks').faultsOf({ ...result, text: null })).not.toEqual([]);
  const tool = { name: 'read', description: 'Reads', inputSchema: {}, annotations: { destructive: null } };
  const toolset = { name: 'reference', description: null, endpoint: 'http://127.0.0.1:1/', tools: [tool] };
  expect(publishedSchema('toolset').faultsOf(toolset)).toEqual([]);
});

/** No keyword of JSON Schema compares the default with the number of choices. */
const BEYOND = 'with a default out of range?';

const invalidMessages = ['invalid-results', 'invalid-questions', 'invalid-events'].flatMap(name => {
  const { servers = [] } = SCENARIOS.find(each => each.name === name) ?? {};
  const steps = valueAt(servers, 0, 'fixtures', 0, 'reply');
  const own = Array.isArray(steps) ? steps.filter(step => 'message' in step) : [];
  return own.map(({ message }) => JSON.stringify(message));
});

test('the schema of callbacks refuses what a runtime must refuse in the scenarios', () => {
  const accepted = invalidMessages.filter(
    text => publishedSchema('callbacks').faultsOf(JSON.parse(text)).length === 0,
  );
  expect(accepted).toEqual([expect.stringContaining(BEYOND)]);
  expect(invalidMessages.filter(text => readCallback(readJson(Buffer.from(text))).ok)).toEqual([]);
  expect(invalidMessages.length).toBeGreaterThan(40);
});

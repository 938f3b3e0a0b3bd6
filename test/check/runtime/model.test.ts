import { describe, expect, it } from 'vitest';
import { type ProviderName, ScriptedModel } from '../../../src/check/runtime/model/model.js';
import type { DriverLine } from '../../../src/protocol/driver.js';
import { AGENTS, type Result } from './sdk-agents.js';

const UNABLE = ['answer', 'dismiss', 'cancel', 'migrate', 'human', 'question', 'consent', 'view', 'migrated'];

const CANNOT = {
  anthropic: { cannot: UNABLE },
  openai: { cannot: ['answer', 'dismiss', 'cancel', 'migrate', 'failure', ...UNABLE.slice(4)] },
};

/** A model and what it observed. */
async function openModel(provider: ProviderName) {
  const lines: DriverLine[] = [];
  const warnings: string[] = [];
  const model = await ScriptedModel.start(provider, {
    onLine: line => void lines.push(line),
    onWarning: message => void warnings.push(message),
  });
  return { model, lines, warnings, [Symbol.asyncDispose]: () => model.close() };
}

const ODD_ARGUMENTS = {
  path: 'a "b"\\\n',
  emoji: '👩‍👩‍👧 𝒳'.repeat(20),
  list: [1, { deep: null }],
  empty: {},
};

const RESULTS: Readonly<Record<string, Result>> = {
  server__answer: { text: 'It is 42.\n "quoted" 👍\u0007' },
  fail: { text: 'Error: no such file', isError: true },
  empty: { text: '' },
};

describe.each(Object.entries(AGENTS))('%s', (_, { provider, run }) => {
  it.each([
    ['whole', false],
    ['streamed', true],
  ])('calls tools, in parallel too, and sends what they return (%s)', async (_, isStreamed) => {
    await using opened = await openModel(provider);
    const { model, lines, warnings } = opened;
    const received: unknown[] = [];
    const runTool = (name: string, args: unknown) => {
      received.push(args);
      return RESULTS[name] ?? { text: `unknown tool ${name}`, isError: true };
    };
    const agent = run({ env: model.env, isStreamed, tools: Object.keys(RESULTS), runTool });
    model.send({ do: 'invoke', operation: 'answer', arguments: ODD_ARGUMENTS, id: 'call_1' });
    model.send({ do: 'invoke', operation: 'empty', arguments: {}, id: 'call_2' });
    await expect.poll(() => lines.length).toBe(3);
    model.send({ do: 'invoke', operation: 'fail', arguments: {}, id: 'call_3' });
    await expect.poll(() => lines.length).toBe(4);
    model.send({ do: 'end' });
    expect(await agent).toEqual({ text: 'Done.', messages: [['server__answer', 'empty'], ['fail']] });
    expect(received).toEqual([ODD_ARGUMENTS, {}, {}]);
    expect(lines).toEqual([
      CANNOT[provider],
      { saw: 'model', id: 'call_1', text: RESULTS['server__answer']?.text },
      { saw: 'model', id: 'call_2', text: '' },
      { saw: provider === 'anthropic' ? 'failure' : 'model', id: 'call_3', text: 'Error: no such file' },
    ]);
    expect(warnings).toEqual([]);
  });
});

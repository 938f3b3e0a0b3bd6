import type { ServerResponse } from 'node:http';
import { describe, expect, test } from 'vitest';
import { checksOf } from '../../src/check/judge.js';
import { HOSTILE_TEXTS_PLAN } from '../../src/check/recorded-call.js';
import { findingsIn } from '../e2e/support/checking.js';
import { type Probing, probing, sentBy } from './probing.js';
import { operation, post, type RawTool, type Received, resultOf, startRawTool } from './tools.js';

const READ_ONLY = { readOnly: true };

/** An operation with these arguments. */
const taking = (name: string, properties: object, annotations: object = READ_ONLY) =>
  operation(name, {
    annotations,
    inputSchema: {
      type: 'object',
      properties,
      required: Object.keys(properties),
      additionalProperties: false,
    },
  });

const TEXT = { type: 'string' };

const toolsetOf =
  (...tools: readonly object[]) =>
  (url: string) => ({ name: 'texts', endpoint: `${url}/invoke`, tools });

const argumentsOf = (invocation: Received) => Object(invocation['arguments']) as Record<string, unknown>;

/** The arguments that the probe sent, by operation. */
function sentTo({ callsOf }: Probing, name: string): Record<string, unknown>[] {
  const calls = callsOf(HOSTILE_TEXTS_PLAN).map(call => sentBy(call));
  return calls.filter(each => each['operation'] === name).map(argumentsOf);
}

const quick = { wants: (id: string) => id === 'TOOL-ALWAYS' };

function finish(invocation: Received, response: ServerResponse): void {
  response.end();
  void post(invocation['callback_url'], resultOf(invocation));
}

describe('hostile texts', () => {
  test('are sent in valid arguments only', async () => {
    const toolset = toolsetOf(
      taking('any', { text: TEXT }),
      taking('short', { name: { type: 'string', maxLength: 40, minLength: 3 } }),
      taking('list', { names: { type: 'array', items: TEXT }, count: { type: 'integer' } }),
      taking('narrow', {
        mode: { type: 'string', enum: ['a', 'b'] },
        when: { type: 'string', format: 'date' },
        code: { type: 'string', pattern: '^[a-z]+$', maxLength: 10 },
      }),
    );
    await using tool = await startRawTool({ toolset, invoked: finish });
    const probed = await probing(tool.url, quick);
    expect(probed.evidence.calls.filter(({ flaw, isHostile }) => isHostile && flaw !== null)).toEqual([]);
    const texts = sentTo(probed, 'any').map(({ text }) => String(text));
    for (const part of ['"', "'", '`', '../', '$(', "'; --", '\0', '👩'])
      expect(texts.join(' ')).toContain(part);
    expect(texts.map(({ length }) => length)).toContain(100 * 1024);
    const names = sentTo(probed, 'short').map(({ name }) => String(name));
    expect([names.length, names.filter(({ length }) => length > 40)]).toEqual([5, []]);
    expect(sentTo(probed, 'list')).toContainEqual({ names: ['before\0after'], count: 1 });
    expect(sentTo(probed, 'narrow')).toEqual([]);
  });

  test('are sent to read-only operations, and to those that the user allows', async () => {
    const toolset = toolsetOf(
      taking('look', { text: TEXT }),
      taking('plain', { text: TEXT }, {}),
      taking('drop', { text: TEXT }, { readOnly: true, destructive: true }),
      taking('allowed', { text: TEXT }, { destructive: true }),
    );
    await using tool = await startRawTool({ toolset, invoked: finish });
    const probed = await probing(tool.url, { ...quick, operations: ['allowed'] });
    const counts = ['look', 'plain', 'drop', 'allowed'].map(name => sentTo(probed, name).length);
    expect(counts).toEqual([7, 0, 0, 7]);
  });

  test('are spread over many operations, of which all together get each text', async () => {
    const tools = Array.from({ length: 12 }, (_, index) => taking(`op_${index}`, { text: TEXT }));
    await using tool = await startRawTool({ toolset: toolsetOf(...tools), invoked: finish });
    const probed = await probing(tool.url, quick);
    const sent = tools.flatMap(({ name }) => sentTo(probed, name).map(({ text }) => text));
    expect([sent.length, new Set(sent).size]).toEqual([24, 7]);
  });

  test('are not sent to an operation that is silent anyway', async () => {
    const toolset = toolsetOf(taking('mute', { text: TEXT }));
    await using tool = await startRawTool({ toolset });
    const probed = await probing(tool.url, { ...quick, probeTimeoutMs: 300 });
    expect(sentTo(probed, 'mute')).toEqual([]);
  });
});

/** Instead of a result: the response says it all. */
const ANSWERED = 'answered';

/** Tools that are right, however they take these texts. */
const RIGHT: readonly (readonly [
  does: string,
  answer: (text: string, response: ServerResponse) => string,
])[] = [
  ['repeats the text', text => text],
  ['refuses each with an error', text => (text === 'example' ? 'found' : `Error: no such name: ${text}`)],
  [
    'refuses what is too large by 413',
    (text, response) => {
      if (text.length < 50_000) return 'found';
      response.writeHead(413).end();
      return ANSWERED;
    },
  ],
  [
    'closes the connection instead of reading what is too large',
    (text, response) => {
      if (text.length < 50_000) return 'found';
      response.destroy();
      return ANSWERED;
    },
  ],
  [
    'refuses control characters and quotes by 400',
    (text, response) => {
      if (!/[\0"]/.test(text)) return 'found';
      response.writeHead(400).end();
      return ANSWERED;
    },
  ],
  [
    'is behind a firewall that refuses paths by 403',
    (text, response) => {
      if (!text.includes('../')) return 'found';
      response.writeHead(403).end();
      return ANSWERED;
    },
  ],
];

/** A tool with one operation, which finishes each call with what `answer` returns. */
function startSearch(answer: (text: string, response: ServerResponse) => string, invalid: string) {
  return startRawTool({
    toolset: toolsetOf(taking('search', { text: TEXT })),
    invoked(invocation, response) {
      const { text, ...others } = argumentsOf(invocation);
      const isPlain = typeof text === 'string' && Object.keys(others).length === 0;
      const isValid = invocation['operation'] === 'search' && isPlain;
      const given = isValid ? answer(text, response) : invalid;
      if (given === ANSWERED) return;
      response.end();
      const display_as = [{ type: 'text', content: `searched ${isValid ? text : 'nothing'}` }];
      void post(invocation['callback_url'], resultOf(invocation, { text: given, display_as }));
    },
  });
}

const RULES_OF_TEXTS = ['TOOL-ACK', 'TOOL-ALWAYS', 'TOOL-VALIDATE', 'TOOL-FALLBACK'];

async function findingsOn(tool: Promise<RawTool>): Promise<string[]> {
  await using started = await tool;
  const wants = (id: string) => RULES_OF_TEXTS.includes(id);
  const { evidence, callsOf } = await probing(started.url, { wants });
  expect(callsOf(HOSTILE_TEXTS_PLAN)).toHaveLength(7);
  const found = findingsIn(checksOf('tool', [evidence])).filter(({ id }) => wants(id));
  return found.map(({ id, status, reason }) => `${id}: ${status}: ${reason}`);
}

test.each(RIGHT)('a tool that %s is not accused', async (_, answer) => {
  expect(await findingsOn(startSearch(answer, 'Error: invalid call; use search with a text'))).toEqual([]);
});

test('TOOL-VALIDATE: the words that decline a hostile text do not prove that a call was executed', async () => {
  const sorry = 'Only names are searched here.';
  const tool = startSearch(text => (text === 'example' ? 'found' : sorry), sorry);
  expect(await findingsOn(tool)).toEqual([
    expect.stringMatching(/^TOOL-VALIDATE: warn: .* may have been executed/),
  ]);
});

import { describe, expect, test } from 'vitest';
import { defineTool } from '../../../src/mock/handlers.js';
import { result } from '../../../src/mock/tool-output.js';
import { replying, startMock } from '../start-mock.js';

const canary = 'hunter2-canary';
const leaky = { password: canary, text: `it is ${canary}`, control: 'a\u0007b' };

describe('seed 003, TOOL-SECRET: a payload passes response middleware', () => {
  test('redacted, sanitized, and one journal line per change', async () => {
    await using mock = await startMock(replying({ payload: leaky }));
    const { raw, body } = await (await mock.invoke()).result();
    expect(raw).not.toContain(canary);
    expect(JSON.parse(String(body?.['text']))).toEqual({
      password: '[redacted]',
      text: 'it is [redacted]',
      control: 'ab',
    });
    expect(mock.eventsOfKind('shaped').map(({ by, changes }) => [by, ...changes])).toEqual([
      ['middleware', { path: '$.password', change: 'redacted' }],
      ['middleware', { path: '$.text', change: 'redacted' }],
      ['middleware', { path: '$.control', change: 'sanitized' }],
    ]);
    expect(JSON.stringify(mock.eventsOfKind('shaped'))).not.toContain(canary);
  });
});

describe('TOOL-SECRET: error messages are redacted too', () => {
  test.each<[string, unknown]>([
    ['an error', { error: { message: 'bad key {{arguments.api_key}}' } }],
    ['a denial', { denied: { tool: 'op', reason: 'bad key {{arguments.api_key}}' } }],
    ['a cancellation', { canceled: { reason: 'bad key {{arguments.api_key}}', by: 'user' } }],
  ])('%s', async (_, reply) => {
    await using mock = await startMock(replying(reply));
    const { raw } = await (await mock.invoke({ args: { api_key: canary } })).result();
    expect(raw).toContain('bad key [redacted]');
    expect(raw).not.toContain(canary);
    expect(mock.eventsOfKind('shaped')).toMatchObject([
      { by: 'middleware', changes: [{ change: 'redacted' }] },
    ]);
  });

  test('also errors that a handler throws', async () => {
    const handle = ({ arguments: { api_key } }: { arguments: Record<string, unknown> }) => {
      throw new Error(`no ${api_key} in '/home/me/keys'`);
    };
    const handlers = [defineTool({ name: 'op', description: '', inputSchema: { type: 'object' }, handle })];
    await using mock = await startMock(null, { handlers });
    const { body } = await (await mock.invoke({ args: { api_key: canary } })).result();
    expect(body).toMatchObject({ text: "Error: no [redacted] in '…/keys'" });
    expect(JSON.stringify(mock.eventsOfKind('warned'))).not.toContain(canary);
  });
});

describe('seed 003: a result is sent verbatim', () => {
  const fields = { text: `it is ${canary}`, password: canary };

  test.each([
    ['of a fixture', replying({ result: fields }), {}],
    [
      'of a handler',
      null,
      {
        handlers: [
          defineTool({ name: 'op', description: '', inputSchema: {}, handle: () => result(fields) }),
        ],
      },
    ],
  ])(
    '%s: the journal records that it bypassed middleware, and what would have changed',
    async (_, file, options) => {
      await using mock = await startMock(file, options);
      expect((await (await mock.invoke()).result()).body).toMatchObject(fields);
      expect(mock.eventsOfKind('shaped')).toMatchObject([
        {
          by: 'verbatim',
          changes: [
            { path: '$.text', change: 'redacted' },
            { path: '$.password', change: 'redacted' },
          ],
        },
      ]);
      expect(mock.eventsOfKind('warned')).toMatchObject([
        { message: 'a result was sent verbatim; middleware would have changed it at $.text, $.password' },
      ]);
    },
  );
});

describe('user middleware', () => {
  const noting = (name: string, seen: string[]) => ({
    onRequest: (invocation: { operation: string }) =>
      void seen.push(`${name} request ${invocation.operation}`),
    onResponse: (payload: unknown) => {
      seen.push(`${name} response`);
      return `${payload}${name}`;
    },
  });

  test('processes a payload in the given order, before redaction', async () => {
    const seen: string[] = [];
    const middleware = [
      noting('a', seen),
      noting('b', seen),
      { onResponse: (payload: unknown) => ({ payload, token: canary }) },
    ];
    await using mock = await startMock(replying({ payload: '!' }), { middleware });
    expect((await (await mock.invoke()).result()).body).toMatchObject({
      text: '{"payload":"!ab","token":"[redacted]"}',
    });
    expect(seen).toEqual(['a request op', 'b request op', 'a response', 'b response']);
  });

  test('may change the invocation for templates and handlers', async () => {
    const middleware = [
      {
        onRequest: async (invocation: object) =>
          ({ ...invocation, operation: 'renamed', arguments: { n: 8 } }) as never,
      },
    ];
    await using mock = await startMock(replying({ payload: '{{arguments.n}}' }), { middleware });
    expect((await (await mock.invoke({ args: { n: 7 } })).result()).body).toMatchObject({ text: '8' });
    const handle = ({ arguments: args }: { arguments: unknown }) => args;
    const handlers = [defineTool({ name: 'op', description: '', inputSchema: {}, handle })];
    await using code = await startMock(null, { middleware, handlers });
    expect((await (await code.invoke({ args: { n: 7 } })).result()).body).toMatchObject({ text: '{"n":8}' });
  });

  test.each(['onRequest', 'onResponse'])(
    'TOOL-ALWAYS: an error that %s throws becomes an error result, once',
    async hook => {
      const middleware = [
        {
          [hook]: () => {
            throw new Error('not allowed here');
          },
        },
      ];
      await using mock = await startMock(replying({ payload: 'x' }), { middleware });
      expect((await (await mock.invoke()).result()).body).toMatchObject({ text: 'Error: not allowed here' });
      expect(mock.eventsOfKind('warned')).toMatchObject([{ message: 'the call failed: not allowed here' }]);
    },
  );
});

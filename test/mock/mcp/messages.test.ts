import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { describe, expect, test } from 'vitest';
import { History } from '../../../src/events/history.js';
import { eventually } from '../../e2e/support/eventually.js';
import { eventsOfKind } from '../local/local-tool.js';
import { ERAS, type Era, resultOf, rpcCall, type StartedMcpMock, startMcpMock } from './start-mcp-mock.js';

const FORM = {
  message: 'Who are you, {{arguments.title}}?',
  requestedSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, age: { type: 'integer' } },
    required: ['name'],
  },
};

const PROGRESS = { method: 'notifications/progress', params: { progress: 1, total: 2, message: 'half' } };
const LOG = { method: 'notifications/message', params: { level: 'info', data: { disk: 'full' } } };

const replying = (reply: object) => ({ fixtures: [{ id: 'one', match: { operation: 'op' }, reply }] });

type Answer = Readonly<Record<string, unknown>>;

/** A client that answers forms, and what it got. */
async function clientOf(mock: StartedMcpMock, era: Era, answer?: (params: unknown) => Answer) {
  const capabilities = answer ? { elicitation: { form: {} } } : {};
  const mode = era === 'modern' ? { pin: '2026-07-28' } : era;
  const client = new Client({ name: 'test', version: '1' }, { capabilities, versionNegotiation: { mode } });
  const [forms, logs]: [unknown[], unknown[]] = [[], []];
  if (answer)
    client.setRequestHandler('elicitation/create', ({ params }) => {
      forms.push(params);
      return answer(params) as never;
    });
  client.setNotificationHandler('notifications/message', ({ params }) => void logs.push(params));
  await client.connect(new StreamableHTTPClientTransport(new URL(mock.url)));
  return { client, forms, logs, [Symbol.asyncDispose]: () => client.close() };
}

describe.each(ERAS)('over HTTP, for a client that is %s', era => {
  const accepts = (content: Answer) => () => ({ action: 'accept', content });

  test('a form is asked, its values are templates, and each answer has its reply', async () => {
    const reply = {
      form: FORM,
      accept: [
        {
          form: { message: 'Sure, {{form.name}}?', requestedSchema: { type: 'object', properties: {} } },
          accept: { payload: 'first' },
        },
      ],
      decline: { payload: 'declined' },
    };
    await using mock = await startMcpMock(replying(reply));
    await using asked = await clientOf(mock, era, accepts({ name: 'Ada', age: 36 }));
    expect(await resultOf(asked.client, { title: 'Dr' })).toMatchObject({ content: [{ text: 'first' }] });
    expect(asked.forms).toMatchObject([
      { mode: 'form', ...FORM, message: 'Who are you, Dr?' },
      { message: 'Sure, Ada?' },
    ]);
    await using declining = await clientOf(mock, era, () => ({ action: 'decline' }));
    expect(await resultOf(declining.client)).toMatchObject({ content: [{ text: 'declined' }] });
    await using canceling = await clientOf(mock, era, () => ({ action: 'cancel' }));
    expect(await resultOf(canceling.client)).toMatchObject({
      isError: true,
      structuredContent: { canceled: { reason: 'the form was canceled', by: 'user' } },
    });
    expect(mock.mcp.tool.mock.verify()).toMatchObject({ ok: true, calls: 3 });
  });

  test('a choice is asked as a form', async () => {
    const branches = { a: { payload: 'chose a' }, b: { payload: 'chose b' } };
    // biome-ignore lint/suspicious/noThenProperty: the word of the file format
    const reply = { choice: { prompt: 'Which?', choices: ['a', 'b'], default: 1 }, then: branches };
    await using mock = await startMcpMock(replying(reply));
    await using asked = await clientOf(mock, era, accepts({ choice: 'a' }));
    expect(await resultOf(asked.client)).toMatchObject({ content: [{ text: 'chose a' }] });
    const { requestedSchema } = asked.forms[0] as Answer;
    expect(requestedSchema).toMatchObject({ properties: { choice: { enum: ['a', 'b'], default: 'b' } } });
    await using without = await clientOf(mock, era);
    expect(await resultOf(without.client)).toMatchObject({ content: [{ text: 'chose b' }] });
  });

  test.each([
    [
      'does not fit its schema',
      accepts({ name: 7 }),
      'the answer does not fit the form: $.name must be string',
    ],
    ['cannot be asked', undefined, 'the client does not support forms (elicitation)'],
  ])('a form that %s counts as canceled, and is a problem of the verification', async (_, answer, why) => {
    const reply = { form: FORM, accept: { payload: 'done' }, cancel: { payload: 'canceled' } };
    await using mock = await startMcpMock(replying(reply));
    await using asked = await clientOf(mock, era, answer);
    expect(await resultOf(asked.client)).toMatchObject({ content: [{ text: 'canceled' }] });
    expect(mock.mcp.tool.mock.verify()).toMatchObject({
      ok: false,
      undelivered: { count: 1, examples: [{ operation: 'op', why: expect.stringContaining(why) }] },
    });
  });

  // A modern client does not answer what it refuses: its call fails.
  test.runIf(era === 'legacy')('a form that the client refuses is recorded as broken off', async () => {
    await using mock = await startMcpMock(
      replying({ form: FORM, accept: { payload: 'done' }, cancel: { payload: 'canceled' } }),
    );
    await using asked = await clientOf(mock, era, () => {
      throw new Error('not now');
    });
    expect(await resultOf(asked.client)).toMatchObject({ content: [{ text: 'canceled' }] });
    expect(eventsOfKind(mock.mcp.tool, 'broken')).toMatchObject([{ phase: 'answer', code: 'REFUSED' }]);
  });

  test('progress and log messages come before the result', async () => {
    await using mock = await startMcpMock(
      replying([{ message: PROGRESS }, { message: LOG }, { payload: 'done' }]),
    );
    await using asked = await clientOf(mock, era);
    const progress: unknown[] = [];
    const onprogress = (params: unknown) => void progress.push(params);
    const result = await asked.client.callTool({ name: 'op', arguments: {} }, { onprogress });
    expect(result).toMatchObject({ content: [{ text: 'done' }] });
    expect(progress).toEqual([{ progress: 1, total: 2, message: 'half' }]);
    if (era === 'legacy') expect(asked.logs).toEqual([{ level: 'info', data: { disk: 'full' } }]); // a modern client asks for them
    const sent = eventsOfKind(mock.mcp.tool, 'request').filter(({ from }) => from === 'tool');
    expect(sent.map(({ method, dialect }) => [method, dialect])).toEqual([
      ['notifications/progress', 'mcp'],
      ['notifications/message', 'mcp'],
    ]);
    const history = new History();
    for (const event of mock.mcp.tool.mock.events) history.apply(event);
    expect(history.first?.arrivals.map(({ verdict }) => verdict.kind)).toEqual(['noted', 'noted']);
  });

  test('progress that the client did not ask for is not sent, with a warning', async () => {
    await using mock = await startMcpMock(replying([{ message: PROGRESS }, { payload: 'done' }]));
    await using asked = await clientOf(mock, era);
    expect(await resultOf(asked.client)).toMatchObject({ content: [{ text: 'done' }] });
    expect(eventsOfKind(mock.mcp.tool, 'warned').map(({ message }) => message)).toEqual([
      'notifications/progress was not sent: the client asked for no progress',
    ]);
  });
});

test('a call that is canceled while its form is open ends its stream', async () => {
  await using mock = await startMcpMock(replying([{ message: LOG }, { form: FORM, accept: { payload: 1 } }]));
  await using asked = await clientOf(mock, 'legacy', () => ({ action: 'accept' }));
  asked.client.setRequestHandler('elicitation/create', () => new Promise<never>(() => {}));
  const abort = new AbortController();
  const call = asked.client.callTool({ name: 'op' }, { signal: abort.signal }).catch(() => 'canceled');
  const isAsked = () =>
    eventsOfKind(mock.mcp.tool, 'request').some(({ method }) => method === 'elicitation/create');
  await eventually('the form is asked', isAsked);
  abort.abort();
  expect(await call).toBe('canceled');
  const isCanceled = () => eventsOfKind(mock.mcp.tool, 'request').some(({ purpose }) => purpose === 'cancel');
  await eventually('the call is canceled', isCanceled);
});

/** The result or error of a call of 2026-07-28 from a client with forms. */
async function modernCall(mock: StartedMcpMock, more: object = {}): Promise<Answer> {
  const meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientInfo': { name: 'x', version: '1' },
    'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
  };
  const { params, ...call } = rpcCall(1);
  const headers = { 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'op' };
  const response = await mock.post({ ...call, params: { ...params, ...more, _meta: meta } }, headers);
  const { result, error } = (await response.json()) as Answer;
  return (result ?? error) as Answer;
}

const UNKNOWN_STATE = { code: -32602, message: 'the requestState is unknown or was used before' };

test('the answer to a form that nobody waits for is refused', async () => {
  await using mock = await startMcpMock(replying({ payload: 1 }));
  expect(await modernCall(mock, { requestState: 'guessed', inputResponses: {} })).toMatchObject(
    UNKNOWN_STATE,
  );
});

test('each form has a state of its own, so that an answer counts once, and may have an id of its fixture', async () => {
  const second = { form: { ...FORM, message: 'Sure?' }, accept: { payload: 'done' } };
  await using mock = await startMcpMock(replying({ form: { ...FORM, id: 'who' }, accept: second }));
  const first = await modernCall(mock);
  const params = { mode: 'form', message: 'Who are you, ?', requestedSchema: FORM.requestedSchema };
  expect(first['inputRequests']).toEqual({ who: { method: 'elicitation/create', params } });
  const answer = { action: 'accept', content: { name: 'Ada' } };
  const again = { requestState: first['requestState'], inputResponses: { other: 1, who: answer } };
  const next = await modernCall(mock, again);
  expect(next).toMatchObject({ resultType: 'input_required', inputRequests: { form: {} } });
  expect(await modernCall(mock, { ...again, inputResponses: { form: answer } })).toMatchObject(UNKNOWN_STATE);
  const last = await modernCall(mock, {
    requestState: next['requestState'],
    inputResponses: { form: answer },
  });
  expect(last).toMatchObject({ content: [{ text: 'done' }] });
});

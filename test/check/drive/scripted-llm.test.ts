import { request } from 'node:http';
import { describe, expect, it, test } from 'vitest';
import { LOOPS, type Result } from '../../peers/agents/loops.mjs';
import { broken, CANNOT, invoke, openModel, type Reply } from '../../support/scripted-model.js';

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

describe.each(Object.entries(LOOPS))('%s', (_, { provider, run }) => {
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

const IMAGE = { type: 'image', source: { type: 'base64', media_type: 'image/png', data: 'AA==' } };

test('what is new in a conversation is observed once, with the ids that it has', async () => {
  await using opened = await openModel('anthropic');
  const { model, lines, warnings, post } = opened;
  const tools = [{ name: 'watch', input_schema: {} }];
  const messages: object[] = [{ role: 'user', content: 'Watch it.' }];
  const ask = (system = 'You are an agent.') =>
    post('/v1/messages', { model: 'm', max_tokens: 9, system, messages, tools });
  const title = {
    model: 'm',
    max_tokens: 9,
    messages: [{ role: 'user', content: 'A title for: Watch it.' }],
  };
  expect((await post('/messages', title)).body).toMatchObject({
    content: [{ type: 'text', text: 'Done.' }],
    stop_reason: 'end_turn',
  });
  const turn = async (id: string, ...content: object[]) => {
    model.send(invoke('watch', id));
    const { body } = await ask();
    messages.push({ role: 'assistant', content: body.content }, { role: 'user', content });
  };
  const result = (id: string, content?: unknown, is_error?: boolean) => ({
    type: 'tool_result',
    tool_use_id: id,
    content,
    is_error,
  });
  const parts = [{ type: 'text', text: 'a picture:' }, IMAGE, { type: 'document', source: { type: 'text' } }];
  await turn('a', result('a', parts), { type: 'text', text: 'Event' });
  await turn('b', result('b'), { type: 'text', text: 'Event' });
  await turn('c', result('c', 'no', true), { type: 'text', text: 'Watch it.' }, IMAGE);
  messages[2] = { role: 'user', content: [result('a', '[removed]'), { type: 'text', text: 'Event' }] };
  messages.push({ role: 'system', content: 'Be brief.' });
  model.send({ do: 'end' });
  await ask('You are an agent. It is 12:01.');
  const last = {
    ...title,
    messages: [{ role: 'user', content: [result('x', 'foreign'), result('c', 'late')] }],
  };
  await post('/v1/messages', last);
  expect(lines).toEqual([
    CANNOT.anthropic,
    { saw: 'model', id: 'a', text: 'a picture:\n[image image/png]\n[document]' },
    { saw: 'model', text: 'Event' },
    { saw: 'model', id: 'b', text: '' },
    { saw: 'model', text: 'Event' },
    { saw: 'model', text: 'You are an agent. It is 12:01.' },
    { saw: 'model', id: 'a', text: '[removed]' },
    { saw: 'failure', id: 'c', text: 'no' },
    { saw: 'model', text: 'Watch it.' },
    { saw: 'model', text: '[image image/png]' },
    { saw: 'model', text: 'Be brief.' },
    { saw: 'model', id: 'c', text: 'late' },
  ]);
  expect(warnings).toEqual(['the agent sent a request without tools; the model answered with a text']);
});

test('images and texts of OpenAI are observed too', async () => {
  await using opened = await openModel('openai');
  const { model, lines, post } = opened;
  const tools = [
    { type: 'function', function: { name: 'draw' } },
    { type: 'custom', custom: { name: 'x' } },
  ];
  const messages: object[] = [{ role: 'developer', content: 'You are an agent.' }];
  const ask = () => post('/chat/completions', { model: 'm', messages, tools, stream: null });
  model.send(invoke('draw', 'a'));
  const { body } = await ask();
  const url = 'data:image/jpeg;base64,AA==';
  messages.push(body.choices[0].message, {
    role: 'tool',
    tool_call_id: 'a',
    content: [{ type: 'text', text: 'ok' }],
  });
  messages.push({ role: 'user', content: [{ type: 'image_url', image_url: { url } }, { type: 'file' }] });
  model.send({ do: 'end' });
  expect((await ask()).body).toMatchObject({
    choices: [{ message: { content: 'Done.' }, finish_reason: 'stop' }],
  });
  expect(lines).toEqual([
    CANNOT.openai,
    { saw: 'model', id: 'a', text: 'ok' },
    { saw: 'model', text: '[image image/jpeg]' },
    { saw: 'model', text: '[file]' },
  ]);
});

test('content of an unknown type is accepted, also if every object inherits a member of that name', async () => {
  await using opened = await openModel('anthropic');
  const content = ['video', 'constructor', 'toString'].map(type => ({ type }));
  const messages = [
    { role: 'user', content: 'x' },
    { role: 'user', content },
  ];
  opened.model.send(invoke('watch', 'a'));
  const tools = [{ name: 'watch', input_schema: {} }];
  const { status } = await opened.post('/v1/messages', { model: 'm', max_tokens: 9, messages, tools });
  expect(status).toBe(200);
  expect(opened.warnings).toEqual([]);
});

test('what a model cannot do is known before the agent runs', async () => {
  await using opened = await openModel('openai');
  expect(opened.lines).toEqual([CANNOT.openai]);
});

/** The results of calls in the words of each API. */
const resultsOf = {
  '/v1/messages': (ids: readonly string[]) => ({
    messages: [
      { role: 'user', content: ids.map(id => ({ type: 'tool_result', tool_use_id: id, content: 'done' })) },
    ],
    tools: [{ name: 'answer' }],
  }),
  '/v1/responses': (ids: readonly string[]) => ({
    input: ids.map(id => ({ type: 'function_call_output', call_id: id, output: 'done' })),
    tools: [{ type: 'function', name: 'answer' }],
  }),
};

test.each([
  ['anthropic', '/v1/messages'],
  ['openai', '/v1/responses'],
] as const)(
  'an agent of %s that runs one call of a message is asked for the others one at a time',
  async (provider, path) => {
    await using opened = await openModel(provider);
    const { model, post, lines, warnings } = opened;
    const callsIn = ({ body }: { body: Reply }) =>
      (body.content ?? body.output).map(each => each.call_id ?? each.id);
    const first = { ...resultsOf[path]([]), input: 'Go.', messages: [{ role: 'user', content: 'Go.' }] };
    const ask = (...ids: string[]) =>
      post(path, { model: 'm', ...(ids.length > 0 ? resultsOf[path](ids) : first) });
    for (const id of ['a', 'b', 'c']) model.send(invoke('answer', id));
    expect(callsIn(await ask())).toEqual(['a', 'b', 'c']);
    expect(callsIn(await ask('a'))).toEqual(['b']);
    expect(callsIn(await ask('a', 'b'))).toEqual(['c']);
    for (const id of ['d', 'e']) model.send(invoke('answer', id));
    expect(callsIn(await ask('a', 'b', 'c'))).toEqual(['d']);
    expect(callsIn(await ask('a', 'b', 'c', 'd'))).toEqual(['e']);
    expect(lines.slice(1)).toEqual(['a', 'b', 'c', 'd'].map(id => ({ saw: 'model', id, text: 'done' })));
    expect(warnings).toEqual([]);
  },
);

test('a request continues the conversation of an earlier response, with its tools', async () => {
  await using opened = await openModel('openai');
  const { model, post, lines } = opened;
  const tools = [{ type: 'function', name: 'answer' }];
  const ask = (input: unknown, more: object = { tools }) =>
    post('/responses', { model: 'm', input, ...more });
  for (const id of ['a', 'b']) {
    model.send(invoke('answer', id));
    await expect.poll(() => lines.length).toBe(1);
  }
  const { body: first } = await ask([{ role: 'user', content: [{ type: 'input_text', text: 'Event' }] }]);
  model.send(invoke('answer', 'c'));
  const output = [{ type: 'input_image', image_url: 'data:image/png;base64,AA==' }];
  const results = [
    { type: 'function_call_output', call_id: 'a', output },
    { type: 'function_call_output', call_id: 'b', output: 'done' },
    { role: 'user', content: 'Event' },
  ];
  const { body: second } = await ask(results, { previous_response_id: first.id, tools });
  expect(second.output).toMatchObject([{ type: 'function_call', call_id: 'c', name: 'answer' }]);
  expect(lines.slice(1)).toEqual([
    { saw: 'model', id: 'a', text: '[image image/png]' },
    { saw: 'model', id: 'b', text: 'done' },
    { saw: 'model', text: 'Event' },
  ]);
  expect((await ask('x', { previous_response_id: 'resp_x' })).body.error).toMatchObject({
    code: 'previous_response_not_found',
  });
});

test('only the last responses can be continued; requests to APIs that continue nothing are not among them', async () => {
  await using opened = await openModel('openai');
  const ask = (more: object = {}) => opened.post('/v1/responses', { model: 'm', input: 'Go.', ...more });
  const messages = [{ role: 'user', content: 'Go.' }];
  const { body: first } = await ask();
  for (let index = 0; index < 40; index++)
    await opened.post('/v1/chat/completions', { model: 'm', messages });
  expect((await ask({ previous_response_id: first.id })).status).toBe(200);
  for (let index = 0; index < 40; index++) await ask();
  const { body: last } = await ask();
  expect((await ask({ previous_response_id: first.id })).status).toBe(404);
  expect((await ask({ previous_response_id: last.id })).status).toBe(200);
});

test('the end of a turn is a text for the waiting request only', async () => {
  await using opened = await openModel('openai');
  const { model, post, requests } = opened;
  const ask = () =>
    post('/responses', { model: 'm', input: 'Go.', tools: [{ type: 'function', name: 'answer' }] });
  model.endTurn();
  const waiting = ask();
  await expect.poll(requests).toBe(1);
  model.endTurn();
  expect((await waiting).body.output).toMatchObject([{ content: [{ text: 'Done.' }] }]);
  model.send(invoke('answer', 'a'));
  expect((await ask()).body.output).toMatchObject([{ call_id: 'a' }]);
});

test('an agent with a tool for its final answer ends by a call of it', async () => {
  await using opened = await openModel('openai');
  const { model, post } = opened;
  model.send({ do: 'end' });
  const tools = ['answer', 'final_answer'].map(name => ({ type: 'function', name }));
  const { body } = await post('/responses', { model: 'm', input: 'Go.', tools });
  expect(body.output).toMatchObject([{ name: 'final_answer', arguments: '{"answer":"Done."}' }]);
});

describe('a message', () => {
  const body = { model: 'm', max_tokens: 9, messages: [{ role: 'user', content: 'x' }] };
  const idsOf = (answer: { body: Reply }) => answer.body.content.map(({ id }) => id);

  test('goes to the oldest waiting request that is still there', async () => {
    await using opened = await openModel('anthropic');
    const { model, origin, post, requests } = opened;
    const tools = [{ name: 'answer' }];
    const left = request(`${origin}/v1/messages`, { method: 'POST' });
    const isGone = broken(left);
    left.end(JSON.stringify({ ...body, tools }));
    await expect.poll(requests).toBe(1);
    left.destroy();
    await isGone;
    const first = post('/v1/messages', { ...body, tools });
    const parallel = { type: 'auto', disable_parallel_tool_use: true };
    const [one, two] = [
      first,
      first.then(() => post('/v1/messages', { ...body, tools, tool_choice: parallel })),
    ];
    model.send(invoke('answer', 'a'));
    model.send(invoke('answer', 'b'));
    expect(idsOf(await one)).toEqual(['a', 'b']);
    model.send(invoke('answer', 'c'));
    model.send(invoke('answer', 'd'));
    expect(idsOf(await two)).toEqual(['c']);
    expect(idsOf(await post('/v1/messages', { ...body, tools }))).toEqual(['d']);
  });

  test('waits for nothing when the model is closed', async () => {
    await using opened = await openModel('openai');
    const { model, post, requests } = opened;
    const waiting = post('/v1/chat/completions', {
      ...body,
      tools: [{ type: 'function', function: { name: 'a' } }],
    });
    const failed = expect(waiting).rejects.toThrow('fetch failed');
    await expect.poll(requests).toBe(1);
    await model.close();
    await failed;
  });

  test('without a fitting tool has the name of the operation; what a model cannot do is ignored', async () => {
    await using opened = await openModel('anthropic');
    const { model, post, warnings } = opened;
    model.send({ do: 'dismiss' });
    model.send(invoke('answer', 'a'));
    const { body: reply } = await post('/v1/messages', {
      ...body,
      tools: [{ name: 'other' }, { name: 'an\u202eswer' }],
    });
    expect(reply.content).toEqual([{ type: 'tool_use', id: 'a', name: 'answer', input: {} }]);
    for (const operation of ['other', 'nothing']) {
      model.send(invoke(operation, operation));
      await post('/v1/messages', { ...body, tools: [{ name: 'other' }] }); // a scenario may ask for an operation that there is not
    }
    expect(warnings).toEqual([
      'a model cannot do "dismiss"; the instruction was ignored',
      'the agent offers no tool for "answer": "other, an<U+202E>swer"',
    ]);
  });
});

test.each([
  ['answer', ['an_answer', 'answer'], 'answer'],
  ['answer', ['re_answer', 'mcp__x__answer'], 'mcp__x__answer'],
  ['answer', ['answers', 'my-answer'], 'my-answer'],
  ['a.b c', ['x__a_b_c'], 'x__a_b_c'],
  ['a.b c', ['a_b_c', 'x__a.b c'], 'a_b_c'],
  ['answer', ['reanswer', 'Answer'], 'answer'],
])('the call of %s among %j is one of %s', async (operation, offered, name) => {
  await using opened = await openModel('anthropic');
  opened.model.send(invoke(operation, 'a'));
  const tools = offered.map(each => ({ name: each }));
  const { body } = await opened.post('/messages', {
    model: 'm',
    messages: [{ role: 'user', content: '' }],
    tools,
  });
  expect(body.content).toMatchObject([{ name }]);
});

import { once } from 'node:events';
import { request } from 'node:http';
import { describe, expect, test } from 'vitest';
import type { ProviderName } from '../../../src/check/drive/scripted-llm.js';
import { modelsOf } from '../../peers/agents/loops.mjs';
import { broken, CANNOT, invoke, openModel } from '../../support/scripted-model.js';

const PATHS = { anthropic: '/v1/messages', openai: '/v1/chat/completions' };

const invalid = (provider: ProviderName, body: unknown, text: string) =>
  [provider, PATHS[provider], body, 400, text] as const;

const unknown = (provider: ProviderName, path: string, text: string) =>
  [provider, path, {}, 404, text] as const;

describe('requests that are not as they should be', () => {
  const message = { role: 'user', content: 'x' };
  const withMessage = (more: object) => ({ model: 'm', messages: [{ ...message, ...more }] });
  const served = 'only POST /v1/messages, POST /v1/messages/count_tokens, GET /v1/models';
  test.each([
    invalid('anthropic', '{"model":', 'not valid JSON: the text ends where a value is expected (column 10)'),
    invalid('anthropic', '['.repeat(200) + ']'.repeat(200), 'the JSON is nested deeper than 128 levels'),
    invalid('anthropic', [], '$: must be an object'),
    invalid('anthropic', { model: 'm', messages: [] }, '$.messages: must have at least 1 item'),
    invalid('anthropic', { messages: [message] }, '$.model: is required'),
    invalid('anthropic', { ...withMessage({}), tools: [{}] }, '$.tools[0].name: is required'),
    invalid('anthropic', withMessage({ content: 7 }), '$.messages[0].content: must be an array'),
    invalid(
      'anthropic',
      withMessage({ content: [{ type: 'tool_result' }] }),
      '$.messages[0].content[0]: must have the string that its type requires',
    ),
    invalid('openai', 'x', 'not valid JSON'),
    invalid('openai', withMessage({ role: 'tool' }), 'must have a "tool_call_id", since its role is "tool"'),
    unknown('anthropic', '/v1/complete?key=s3cret', `POST /v1/complete, ${served}`),
    unknown('anthropic', PATHS.openai, `${served}. Use --model openai for this agent`),
    unknown('openai', '/v1/embeddings', `only POST ${PATHS.openai}, POST /v1/responses, GET /v1/models`),
    unknown('anthropic', '/v1/responses', `${served}. Use --model openai for this agent`),
    invalid('openai', '{}', '$.model: is required'),
    unknown('openai', PATHS.anthropic, 'Use --model anthropic for this agent'),
  ])('%s %s %j: %i', async (provider, path, body, status, text) => {
    await using opened = await openModel(provider);
    const answer = await opened.post(path, body);
    expect(answer.status).toBe(status);
    const type = status === 404 && provider === 'anthropic' ? 'not_found_error' : 'invalid_request_error';
    expect(answer.body).toMatchObject({ error: { type, message: expect.stringContaining(text) } });
    expect(opened.warnings).toEqual([
      `the agent got status ${status} from the scripted model: ${answer.body.error.message}`,
    ]);
    expect(opened.warnings[0]).not.toContain('s3cret');
    expect(opened.unserved).toEqual(opened.warnings);
    expect(opened.lines).toEqual([CANNOT[provider]]);
  });

  test('bodies over the limit and without end are cut off; warnings are bounded', async () => {
    await using opened = await openModel('openai');
    const { origin, warnings, model } = opened;
    const headers = { 'content-length': 33 * 1024 * 1024 };
    const large = request(`${origin}/v1/chat/completions`, { method: 'POST', headers }).on('error', () => {});
    large.flushHeaders();
    const [{ statusCode }] = await once(large, 'response');
    expect(statusCode).toBe(413);
    large.destroy();
    expect(warnings).toEqual([
      'the scripted model refused a request (POST /v1/chat/completions): its body is larger than 32 MiB',
    ]);
    for (let index = 0; index < 25; index++) await opened.post(`/v1/x${index}`, {});
    expect(opened.unserved).toEqual(warnings.slice(0, 1));
    expect(warnings).toHaveLength(20);
    const endless = request(`${origin}/v1/chat/completions`, { method: 'POST' });
    const isBroken = broken(endless);
    endless.write('{"model":');
    await model.close();
    await isBroken;
  });

  test('are reported until the model serves another one, and again after it, also beyond the limit of warnings', async () => {
    await using opened = await openModel('openai');
    const { model, post, unserved, warnings } = opened;
    const tools = [{ type: 'function', name: 'answer' }];
    const ask = (more: object = {}) => post('/v1/responses', { model: 'm', input: 'Go.', tools, ...more });
    for (let index = 0; index < 25; index++) {
      await post(`/v1/x${index}`, {});
      await post('/v1/embeddings', {});
      model.send(invoke('answer', `call_${index}`));
      await ask();
    }
    expect(warnings).toHaveLength(20);
    expect(unserved).toHaveLength(50);
    expect(unserved.slice(-2)).toEqual([expect.stringContaining('POST /v1/x24'), 'served']);
    await ask({ previous_response_id: 'resp_x' });
    model.send(invoke('answer', 'last'));
    await ask();
    expect(unserved.slice(50)).toEqual([expect.stringContaining('unknown response "resp_x"'), 'served']);
    await post('/v1/embeddings', {});
    await ask({ tools: [] });
    expect(unserved).toHaveLength(53);
    model.send({ do: 'end' });
    await ask();
    await post('/v1/embeddings', {});
    expect(unserved.slice(53)).toEqual(['served']);
  });

  test('a list of models has the one model, also for the official SDKs', async () => {
    for (const provider of ['anthropic', 'openai'] as const) {
      await using opened = await openModel(provider);
      expect(await modelsOf[provider](opened.model.env)).toEqual(['scripted-model']);
      expect((await fetch(`${opened.origin}/v1/models?limit=1`)).status).toBe(200);
      expect(opened.requests()).toBe(2);
      expect([...opened.warnings, ...opened.unserved]).toEqual([]);
    }
  });

  test('the number of tokens is constant', async () => {
    await using opened = await openModel('anthropic');
    expect((await opened.post('/v1/messages/count_tokens', {})).body).toEqual({ input_tokens: 100 });
  });
});

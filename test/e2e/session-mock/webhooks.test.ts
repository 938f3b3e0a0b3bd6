import { readFile } from 'node:fs/promises';
import { expect, it } from 'vitest';
import { startServing } from '../../support/serving.js';
import { temporaryFolder } from '../support/folder.js';
import { askJson, startSessionMockHere } from '../support/session-mock.js';
import { closedPort } from '../support/sockets.js';

const TOKEN = 'a-token-of-more-than-16';

it('session mock prints each delivery with its type and its receiver, and saves it without secrets', async () => {
  await using folder = await temporaryFolder();
  await using receiver = await startServing(204);
  const saved = folder.file('saved.ndjson');
  await using mock = await startSessionMockHere(['-o', 'plain', '--save', saved]);
  const post = (path: string, body?: object) => {
    const headers = { authorization: `Bearer ${mock.key}` };
    return askJson(`${mock.url}/api/v2${path}`, { method: 'POST', headers, body });
  };
  const { json } = await post('/webhooks', { url: `${receiver.url}callback/${TOKEN}` });
  const { id, secret } = json as { id: string; secret: string };
  const closed = `http://127.0.0.1:${await closedPort()}`;
  await post('/webhooks', { url: `${closed}/`, enabled_events: ['session.awaiting_tool_results'] });
  await post('/sessions', { agent: 'a' });
  const origin = new URL(receiver.url).origin;
  await mock.printsToStderr(
    RegExp(`webhook session.status_updated to ${origin} answered 204 .*\n.*updated to`),
  );
  await mock.printsToStderr(
    RegExp(`✗ webhook session.awaiting_tool_results to ${closed} failed: ECONNREFUSED`),
  );
  const { json: rotated } = await post(`/webhooks/${id}/rotate`);
  const { status, stderr } = await mock.stop();
  expect(status).toBe(0);
  const transcript = await readFile(saved, 'utf8');
  expect(transcript).toContain('"purpose":"webhook"');
  expect(transcript).toContain('session.status_updated');
  for (const hidden of [secret, (rotated as { secret: string }).secret, TOKEN])
    expect(transcript + stderr).not.toContain(hidden);
});

it('--allow-webhook allows another origin', async () => {
  await using mock = await startSessionMockHere(['-q', '--allow-webhook', 'https://receiver.example']);
  const create = async (url: string) => {
    const headers = { authorization: `Bearer ${mock.key}` };
    return (await askJson(`${mock.url}/api/v2/webhooks`, { method: 'POST', headers, body: { url } })).status;
  };
  expect(await create('https://receiver.example/hook')).toBe(201);
  expect(await create('https://other.example/hook')).toBe(422);
});

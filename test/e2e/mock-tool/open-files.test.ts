import { Agent } from 'node:http';
import { expect, test } from 'vitest';
import { openSink } from '../../peers/callback-sink.mjs';
import { temporaryFolder } from '../support/folder.js';
import { ask } from '../support/http.js';
import { startMockProcess } from '../support/mock.js';

/** Its schema needs a compiler, and its result a diff. */
const FIXTURES = `
version: 1
toolset:
  name: edit
  tools:
    - name: edit_file
      description: Edits a file.
      inputSchema: { type: object, properties: { path: { type: string, pattern: "^[a-z]+$" } }, required: [path] }
fixtures:
  - match: { operation: edit_file }
    reply:
      result: { text: edited, display_as: [{ type: diff, content: { path: a, before: "x", after: "y" } }] }
`;

test('row 33: with few open files and many clients, every acknowledged call is delivered, and the next one too', async () => {
  await using folder = await temporaryFolder();
  await using sink = await openSink(200);
  await using mock = await startMockProcess([await folder.write('edit.yaml', FIXTURES), '-q'], {
    openFiles: 64,
  });
  const agent = new Agent({ keepAlive: true }); // its connections stay open until all calls are acknowledged
  const call = async (id: string) => {
    const addressee = { callback_url: sink.url, group_id: 'g', id };
    const body = JSON.stringify({ operation: 'edit_file', arguments: { path: 'a' }, ...addressee });
    const answer = await ask(`${mock.url}/invoke`, { body, agent }).catch(() => null); // there was no room for it
    return answer?.status === 200;
  };
  const texts = () =>
    sink.requests.map(({ raw }) => {
      const { id, text } = JSON.parse(raw ?? '{}');
      return `${id} ${text}`;
    });
  const ids = Array.from({ length: 300 }, (_, index) => `c${index}`);
  const isAcknowledged = await Promise.all(ids.map(call));
  agent.destroy();
  const acknowledged = ids.filter((_, index) => isAcknowledged[index]);
  expect(acknowledged.length).toBeGreaterThan(10);
  await expect.poll(texts).toEqual(expect.arrayContaining(acknowledged.map(id => `${id} edited`)));
  await expect.poll(() => call('next')).toBe(true);
  await expect.poll(texts).toContain('next edited');
});

import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { readCallback } from '../../src/protocol/callbacks/read.js';
import { cancelToolCallSchema, choiceResponseSchema, closeThreadSchema } from '../../src/protocol/notices.js';
import { readInvocation } from '../../src/protocol/read-invocation.js';
import { readToolset } from '../../src/protocol/read-toolset.js';
import { parseJson } from '../../src/text/json.js';
import { blocksOf } from './examples.js';

test('what is shown of the wire is what the protocol reads', async () => {
  const [, section = ''] = /^## On the wire\n(.*?)^## /ms.exec(await readFile('README.md', 'utf8')) ?? [];
  const [toolset = '', invocation = '', callbacks = '', notices = ''] = blocksOf(section, 'json');
  expect(await readToolset(parseJson(toolset))).toMatchObject({ ok: true, notes: [] });
  expect(readInvocation(parseJson(invocation))).toMatchObject({ ok: true, notes: [] });
  const messages = callbacks
    .trim()
    .split('\n')
    .map(line => readCallback(parseJson(line)));
  expect(messages).toHaveLength(5);
  for (const message of messages) expect(message).toMatchObject({ ok: true, warnings: [] });
  const sent = notices
    .trim()
    .split('\n')
    .map(line => JSON.parse(line));
  const schemas = [choiceResponseSchema, cancelToolCallSchema, closeThreadSchema];
  expect(schemas.map((schema, index) => schema.parse(sent[index]))).toEqual(sent);
});

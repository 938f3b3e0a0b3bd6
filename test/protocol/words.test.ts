import { expect, it } from 'vitest';
import { CALLBACK_TYPES, callbackSchema } from '../../src/protocol/callbacks.js';
import { invocationSchema } from '../../src/protocol/read-invocation.js';
import {
  cancelToolCallSchema,
  choiceResponseSchema,
  closeThreadSchema,
  migrateSchema,
  toolSchema,
  toolsetSchema,
} from '../../src/protocol/toolset.js';
import { PROTOCOL_WORDS } from '../../src/protocol/words.js';

it('names every member of every message, and every type', () => {
  const schemas = [
    ...[invocationSchema, toolSchema, toolsetSchema],
    ...callbackSchema._zod.def.options,
    ...[cancelToolCallSchema, choiceResponseSchema, closeThreadSchema, migrateSchema],
  ];
  const members = schemas.flatMap(({ shape }) => Object.keys(shape));
  expect(members.length).toBeGreaterThan(30);
  expect([...members, ...CALLBACK_TYPES].filter(each => !PROTOCOL_WORDS.has(each))).toEqual([]);
});

import { expect, it } from 'vitest';
import { CALLBACK_TYPES, callbackSchema } from '../../src/protocol/callbacks/index.js';
import { invocationSchema } from '../../src/protocol/invocation.js';
import * as notices from '../../src/protocol/notices.js';
import { toolSchema, toolsetSchema } from '../../src/protocol/toolset.js';
import { PROTOCOL_WORDS } from '../../src/protocol/words.js';

it('names every member of every message, and every type', () => {
  const schemas = [
    ...[invocationSchema, toolSchema, toolsetSchema],
    ...callbackSchema._zod.def.options,
    ...Object.values(notices).filter(each => typeof each === 'object'),
  ];
  const members = schemas.flatMap(({ shape }) => Object.keys(shape));
  expect(members.length).toBeGreaterThan(30);
  expect([...members, ...CALLBACK_TYPES].filter(each => !PROTOCOL_WORDS.has(each))).toEqual([]);
});

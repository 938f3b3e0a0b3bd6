import type { Scenario } from '../scenario.js';
import { answers, tool } from './fixtures.js';

const NESTED = {
  type: 'object',
  properties: {
    city: { type: 'string', minLength: 1 },
    days: { type: 'integer', minimum: 1, maximum: 30 },
    travelers: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: { type: 'string' }, age: { type: 'number' } },
        required: ['name'],
      },
    },
    comfort: { enum: ['low', 'high'] },
  },
  required: ['city'],
  additionalProperties: false,
};

/** An older draft, with a reference to a definition. */
const OLDER = {
  $schema: 'http://json-schema.org/draft-07/schema#',
  type: 'object',
  properties: { size: { $ref: '#/definitions/size' } },
  required: ['size'],
  definitions: { size: { type: 'integer', minimum: 1 } },
};

const UNKNOWN = { $schema: 'https://schemas.example/draft-2099', type: 'object' };

const VALID: readonly [string, Readonly<Record<string, unknown>>][] = [
  ['plan', { city: 'Oslo', days: 3, travelers: [{ name: 'Ada', age: 36 }], comfort: 'high' }],
  ['pack', { size: 2 }],
  ['open', { anything: true }],
];

const INVALID: readonly [string, Readonly<Record<string, unknown>>][] = [
  ['plan', {}],
  ['plan', { city: 7 }],
  ['plan', { city: 'Rome', days: 31 }],
  ['plan', { city: 'Rome', travelers: [{ name: 'Ada' }, { age: 36 }] }],
  ['plan', { city: 'Rome', comfort: 'medium' }],
  ['plan', { city: 'Rome', hotel: 'Ritz' }],
  ['pack', { size: 'large' }],
];

/** How many calls are in progress at the same time. */
const PARALLEL = 6;

/** Invocations, and the checks before a runtime sends them. */
export const callScenarios: readonly Scenario[] = [
  {
    name: 'parallel-calls',
    title: `${PARALLEL} calls at the same time, answered in another order`,
    checks: ['RT-ID', 'RT-FIELDS'],
    servers: [
      {
        fixtures: [
          {
            match: { operation: 'count' },
            reply: { payload: 'count {{arguments.number}}', delay: { min: '20ms', max: '200ms' } },
          },
        ],
      },
    ],
    run: async session => {
      const numbers = Array.from({ length: PARALLEL }, (_, index) => index);
      await Promise.all(numbers.map(number => session.call('count', { number })));
    },
  },
  {
    name: 'unknown-operation',
    title: 'the model asks for operations that no toolset has',
    checks: ['RT-OP'],
    servers: [{ fixtures: [answers('read', 'the file is empty')] }],
    run: async session => {
      await Promise.all(['read', 'raed', 'Read', 'toString'].map(operation => session.call(operation)));
      await session.settle();
    },
  },
  {
    name: 'arguments',
    title: 'arguments that match their inputSchema, and others; schemas of another draft and an unknown one',
    checks: ['RT-ARGS'],
    servers: [
      {
        toolset: {
          name: 'travel',
          tools: [tool('plan', NESTED), tool('pack', OLDER), tool('open', UNKNOWN)],
        },
        fixtures: ['plan', 'pack', 'open'].map(name => answers(name, `${name} {{arguments}}`)),
      },
    ],
    run: async session => {
      await Promise.all([...VALID, ...INVALID].map(([operation, args]) => session.call(operation, args)));
      await session.settle();
    },
  },
];

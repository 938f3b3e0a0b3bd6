import type { Fixtures, Scenario } from '../scenario.js';
import { answers, tool } from './fixtures.js';

/** A server whose discovery answers with this document. It also answers calls of the operation. */
const serving = (operation: string, document: unknown): Fixtures => ({
  document,
  fixtures: [answers(operation, `${operation} was executed`)],
});

const offering = (operation: string, ...tools: readonly object[]): Fixtures =>
  serving(operation, { name: operation, tools });

/** Each has an operation that a runtime offers if it loads only the valid parts. */
const INVALID: Readonly<Record<string, Fixtures>> = {
  misnamed: offering('misnamed', tool('misnamed'), tool('not a name')),
  untyped: offering('untyped', tool('untyped'), { name: 'other', description: 'Has no inputSchema' }),
  twice: offering('twice', tool('twice'), tool('same'), tool('same')),
  unnamed: serving('unnamed', { tools: [tool('unnamed')] }),
  empty: offering('empty'),
  unreadable: serving('unreadable', 'not a toolset'),
};

const ONE = { toolset: { name: 'one', tools: [tool('shared'), tool('only_one')] } };
const TWO = { toolset: { name: 'two', tools: [tool('shared'), tool('only_two')] } };

const both = (name: string) => [
  answers('shared', `shared of ${name}`),
  answers(`only_${name}`, `only ${name}`),
];

const BEFORE = [tool('stay')];
const AFTER = [tool('stay'), tool('added')];
const CHANGING = [answers('stay', 'stay {{arguments.time}}'), answers('added', 'the new operation')];

const changing = (tools: readonly object[]): Fixtures => ({
  toolset: { name: 'changing', tools },
  fixtures: CHANGING.slice(0, tools.length),
});

/** Several servers, and toolsets that are invalid or change. */
export const serverScenarios: readonly Scenario[] = [
  {
    name: 'duplicate-operations',
    title: 'two servers offer an operation of the same name',
    checks: ['RT-TOOLSET'],
    servers: [
      { ...ONE, fixtures: both('one') },
      { ...TWO, fixtures: both('two') },
    ],
    run: async session => {
      await Promise.all(['shared', 'only_one', 'only_two'].map(operation => session.call(operation)));
      await session.settle();
    },
  },
  {
    name: 'invalid-toolsets',
    title: 'a valid toolset, and invalid ones with one error each',
    checks: ['RT-TOOLSET'],
    servers: [
      { fixtures: [answers('valid', 'the operation of the valid toolset')] },
      ...Object.values(INVALID),
    ],
    run: async session => {
      const operations = ['valid', ...Object.keys(INVALID)];
      await Promise.all(operations.map(operation => session.call(operation)));
      await session.settle();
    },
  },
  {
    name: 'failing-discovery',
    title: 'discovery works at one server; the others answer 500, a web page, or nothing',
    checks: ['RT-OP'],
    servers: [
      { fixtures: [answers('work', 'the server that works')] },
      { fixtures: [answers('failing', 'failing')], faults: { discovery: { status: 500 } } },
      { fixtures: [answers('page', 'page')], faults: { discovery: { body: '<!doctype html>' } } },
      { fixtures: [answers('reset', 'reset')], faults: { discovery: { reset: true } } },
    ],
    run: async session => {
      await Promise.all(['work', 'failing'].map(operation => session.call(operation)));
      await session.settle();
    },
  },
  {
    name: 'changing-toolset',
    title: 'a toolset changes during the session',
    checks: ['RT-CACHE', 'RT-OP'],
    servers: [changing(BEFORE)],
    run: async session => {
      await session.call('stay', { time: 1 });
      await session.replaceFixtures(changing(AFTER));
      await session.call('stay', { time: 2 });
      await session.call('added');
    },
  },
];

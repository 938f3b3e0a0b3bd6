import type { Scenario } from '../scenario.js';
import type { Fixtures } from '../scenario-fixtures.js';
import type { ScenarioSession } from '../scenario-session.js';
import { argumentSchema, offering, on, serving, tool } from './fixtures.js';

type Arguments = Readonly<Record<string, unknown>>;
type Calls = readonly (readonly [operation: string, args?: Arguments])[];

/** Calls operations at the same time; afterwards, nothing more may come. */
async function callAndSettle(session: ScenarioSession, calls: Calls): Promise<void> {
  await Promise.all(calls.map(([operation, args]) => session.call(operation, args)));
  await session.settle();
}

const callEach = (operations: readonly string[]) => (session: ScenarioSession) =>
  callAndSettle(
    session,
    operations.map(name => [name]),
  );

const executed = (operation: string, faults?: object) => on(operation, `${operation} was executed`, faults);

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

const UNKNOWN = { $schema: 'https://schemas.example/draft-2099', ...argumentSchema({ anything: 'boolean' }) };

const ARGUMENTS: Calls = [
  ['plan', { city: 'Oslo', days: 3, travelers: [{ name: 'Ada', age: 36 }], comfort: 'high' }],
  ['pack', { size: 2 }],
  ['open', { anything: true }],
  ['plan', {}],
  ['plan', { city: 7 }],
  ['plan', { city: 'Rome', days: 31 }],
  ['plan', { city: 'Rome', travelers: [{ name: 'Ada' }, { age: 36 }] }],
  ['plan', { city: 'Rome', comfort: 'medium' }],
  ['plan', { city: 'Rome', hotel: 'Ritz' }],
  ['pack', { size: 'large' }],
];

const NUMBERS = [0, 1, 2, 3, 4, 5];

/** What an acknowledgement may contain that a runtime must not read. By operation. */
const MISLEADING = {
  page: '<!doctype html><title>502 Bad Gateway</title>',
  error: '{"error":{"code":500,"message":"an error in the acknowledgement"},"status":"failed"}',
  result:
    '{"type":"tool_result","group_id":"{{group_id}}","id":"{{id}}","text":"a result in the acknowledgement"}',
  large: 'x'.repeat(5 * 1024 * 1024),
};

/** Statuses that are neither a success nor a reason to retry. */
const FINAL = [400, 404, 410, 429, 201, 202, 204, 302];

/** A server whose discovery answers with this document. It also answers calls of the operation. */
const serverWithDocument = (operation: string, document: unknown): Fixtures => ({
  document,
  fixtures: [executed(operation)],
});

const serverWithTools = (operation: string, ...tools: readonly object[]): Fixtures =>
  serverWithDocument(operation, { name: operation, tools });

/** Each has an operation that a runtime offers if it loads only the valid parts. */
const INVALID: Readonly<Record<string, Fixtures>> = {
  misnamed: serverWithTools('misnamed', tool('misnamed'), tool('not a name')),
  untyped: serverWithTools('untyped', tool('untyped'), { name: 'other', description: 'Has no inputSchema' }),
  twice: serverWithTools('twice', tool('twice'), tool('same'), tool('same')),
  unnamed: serverWithDocument('unnamed', { tools: [tool('unnamed')] }),
  empty: serverWithTools('empty'),
  unreadable: serverWithDocument('unreadable', 'not a toolset'),
};

/** A server with a toolset of one operation, of the same name. */
const serverWithToolset = (operation: string, more: Fixtures = {}, toolset: object = {}): Fixtures => ({
  toolset: { name: operation, tools: [tool(operation)], ...toolset },
  fixtures: [executed(operation)],
  ...more,
});

/** A server that shares an operation with others. */
const serverSharingAnOperation = (name: string): Fixtures => ({
  toolset: { name, tools: [tool('shared'), tool(`only_${name}`)] },
  fixtures: [on('shared', `shared of ${name}`), on(`only_${name}`, `only ${name}`)],
});

const changing = (...operations: readonly string[]): Fixtures => ({
  toolset: {
    name: 'changing',
    tools: operations.map(name => tool(name, argumentSchema({ time: 'integer' }))),
  },
  fixtures: operations.map(name => on(name, `${name} {{arguments.time}}`)),
});

const waiting = (operation: string, faults: object = {}) =>
  serverWithToolset(
    operation,
    { fixtures: [on(operation, { silence: true })], faults },
    { tools: [tool(operation, argumentSchema({ number: 'integer' }))] },
  );

/** A server that takes part in a migration. */
const migrating = (operation: string, migrate?: object): Fixtures =>
  serverWithToolset(operation, migrate && { faults: { migrate } }, { needsMigration: true });

/** A server that can migrate but does not declare it. */
const UNDECLARED = {
  ...migrating('undeclared'),
  document: { name: 'undeclared', tools: [tool('undeclared')] },
};

/** No server listens on this port. */
const MIGRATE = { do: 'migrate', destination_url: 'http://127.0.0.1:9/' } as const;

/** Time after a failed migration during which the runtime must not report success, in ms. */
const MIGRATION_MS = 600;

/** Invocations and the checks before them, acknowledgements, several servers, notices. */
export const callScenarios: readonly Scenario[] = [
  {
    name: 'refusals',
    title: `invocations answered ${FINAL.join(', ')}`,
    checks: ['RT-NON200', 'RT-NORETRY'],
    servers: [serving(...FINAL.map(status => executed(`status_${status}`, { ack: { status } })))],
    run: callEach(FINAL.map(status => `status_${status}`)),
  },
  {
    name: 'status-500',
    title: 'every attempt is answered 500',
    checks: ['RT-RETRY', 'RT-NON200'],
    servers: [serving(executed('crash', { ack: { status: 500 } }))],
    run: async session => {
      const id = session.invoke('crash');
      if (!(await session.waitForResult(id))) await session.waitForResult(id); // a runtime may pause for long between its retries
    },
  },
  {
    name: 'status-503',
    title: 'the first attempt is answered 503, a later one 200',
    checks: ['RT-RETRY'],
    servers: [serving(executed('flaky', { ack: { status: 503 } }))],
    run: async session => {
      const id = session.invoke('flaky');
      await session.waitForRequests('invocation');
      await session.replaceFixtures(serving(on('flaky', 'flaky is available again')));
      await session.waitForResult(id);
      await session.settle();
    },
  },
  {
    name: 'lost-acknowledgement',
    title: 'the connection breaks before the acknowledgement; the result comes a second later',
    checks: ['RT-RETRY'],
    servers: [
      serving(on('lose', { payload: 'the tool has the call', delay: '1s' }, { ack: { reset: true } })),
    ],
    run: callEach(['lose']),
  },
  {
    name: 'slow-acknowledgement',
    title: 'an acknowledgement after a second, and one that never comes',
    checks: ['RT-FIELDS', 'RT-ID'],
    servers: [
      serving(
        on('hang', 'the result of an invocation without acknowledgement', { ack: { hang: true } }),
        on('slow', 'the result after a slow acknowledgement', { ack: { delay: '1s' } }),
      ),
    ],
    run: async session => {
      const slow = ['hang', 'slow'].map(operation => session.invoke(operation));
      await session.settle();
      await Promise.all(slow.map(id => session.waitForResult(id)));
    },
  },
  {
    name: 'acknowledgement-with-body',
    title: 'acknowledgements with a body: a web page, a JSON error, a result, 5 MiB; the results follow',
    checks: ['RT-TEXT', 'RT-RETRY'],
    needs: ['model'],
    servers: [
      serving(
        ...Object.entries(MISLEADING).map(([operation, body]) =>
          on(operation, { payload: `the result of ${operation}`, delay: '300ms' }, { ack: { body } }),
        ),
      ),
    ],
    run: callEach(Object.keys(MISLEADING)),
  },
  {
    name: 'parallel-calls',
    title: `${NUMBERS.length} calls at the same time, answered in another order`,
    checks: ['RT-ID', 'RT-FIELDS'],
    servers: [
      offering(
        { count: { number: 'integer' } },
        on('count', { payload: 'count {{arguments.number}}', delay: { min: '20ms', max: '200ms' } }),
      ),
    ],
    run: session => Promise.all(NUMBERS.map(number => session.call('count', { number }))),
  },
  {
    name: 'child-threads',
    title: 'calls in a thread, in a child of it, and in a child of that child',
    checks: ['RT-ANCESTORS'],
    needs: ['child-thread'],
    servers: [offering({ work: { level: 'integer' } }, on('work', 'work {{arguments.level}} is done'))],
    run: async session => {
      await session.call('work', { level: 1 });
      for (const level of [2, 3]) {
        session.instruct({ do: 'child-thread' });
        await session.call('work', { level });
      }
    },
  },
  {
    name: 'unknown-operation',
    title: 'the model asks for operations that no toolset has',
    checks: ['RT-OP'],
    servers: [serving(on('read', 'the file is empty'))],
    run: callEach(['read', 'raed', 'Read', 'toString']),
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
        fixtures: ['plan', 'pack', 'open'].map(name => on(name, `${name} {{arguments}}`)),
      },
    ],
    run: session => callAndSettle(session, ARGUMENTS),
  },
  {
    name: 'duplicate-operations',
    title: 'two servers offer an operation of the same name',
    checks: ['RT-TOOLSET'],
    servers: [serverSharingAnOperation('one'), serverSharingAnOperation('two')],
    run: callEach(['shared', 'only_one', 'only_two']),
  },
  {
    name: 'invalid-toolsets',
    title: 'a valid toolset, and invalid ones with one error each',
    checks: ['RT-TOOLSET'],
    servers: [serving(executed('valid')), ...Object.values(INVALID)],
    run: callEach(['valid', ...Object.keys(INVALID)]),
  },
  {
    name: 'failing-discovery',
    title: 'discovery works at one server; the others answer 500, a web page, or nothing',
    checks: ['RT-OP'],
    servers: [
      serving(executed('work')),
      ...[{ status: 500 }, { body: '<!doctype html>' }, { reset: true }].map((discovery, index) => ({
        ...serving(executed(`failing_${index}`)),
        faults: { discovery },
      })),
    ],
    run: callEach(['work', 'failing_0']),
  },
  {
    name: 'changing-toolset',
    title: 'a toolset changes during the session',
    checks: ['RT-CACHE', 'RT-OP'],
    servers: [changing('stay')],
    run: async session => {
      await session.call('stay', { time: 1 });
      await session.replaceFixtures(changing('stay', 'added'));
      await session.call('stay', { time: 2 });
      await session.call('added', { time: 3 });
    },
  },
  {
    name: 'close',
    title: 'a thread is closed; of three servers, one was called and hangs, one fails, one was not called',
    checks: ['RT-NOTIFY'],
    needs: ['end'],
    servers: [
      serverWithToolset('work', { faults: { close: { hang: true } } }),
      serverWithToolset('fail', { faults: { close: { status: 500 } } }),
      serverWithToolset('idle'),
    ],
    run: session => session.call('work'),
  },
  {
    name: 'cancel',
    title: 'pending calls are canceled; the notice fails at one server',
    checks: ['RT-NOTIFY'],
    needs: ['cancel'],
    servers: [waiting('wait'), waiting('stay', { cancel: { status: 500 } })],
    run: async session => {
      session.invoke('wait', { number: 1 });
      session.invoke('wait', { number: 2 });
      session.invoke('stay');
      await session.waitForRequests('invocation', 4);
      await session.cancel(3);
    },
  },
  {
    name: 'migration',
    title: 'a session migrates: two servers that declare it, one of them slow, and one that does not',
    checks: ['RT-MIGRATE'],
    needs: ['migrate'],
    servers: [migrating('slow', { delay: '700ms' }), UNDECLARED, migrating('other')],
    run: async session => {
      await session.call('slow');
      session.instruct(MIGRATE);
      await session.waitForRequests('migrate', 2);
      await session.waitForObservation('migrated');
    },
  },
  {
    name: 'failed-migration',
    title: 'the migration of a session fails at the only server that declares it',
    checks: ['RT-MIGRATE'],
    needs: ['migrate'],
    servers: [migrating('fails', { status: 409 }), UNDECLARED],
    run: async session => {
      await session.call('fails');
      session.instruct(MIGRATE);
      await session.waitForRequests('migrate');
      await session.waitForObservation('failure');
      await session.waitQuietly(MIGRATION_MS);
    },
  },
];

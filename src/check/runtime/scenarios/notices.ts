import type { Fixtures, Scenario } from '../scenario.js';
import { answers, tool } from './fixtures.js';

const SILENT = { reply: { silence: true } };

/** @param operation also the name of its toolset */
const server = (operation: string, more: Fixtures = {}): Fixtures => ({
  toolset: { name: operation, tools: [tool(operation)] },
  fixtures: [answers(operation, `${operation} was executed`)],
  ...more,
});

/** A server that takes part in a migration. */
const migrating = (operation: string, migrate?: object): Fixtures =>
  server(operation, {
    toolset: { name: operation, needsMigration: true, tools: [tool(operation)] },
    ...(migrate && { faults: { migrate } }),
  });

/** A server that can migrate but does not declare it. */
const UNDECLARED = {
  ...migrating('undeclared'),
  document: { name: 'undeclared', tools: [tool('undeclared')] },
};

/** No server listens on this port. */
const migrate = { do: 'migrate', destination_url: 'http://127.0.0.1:9/' } as const;

/** How long after a failed migration no success may be reported, in ms. */
const MIGRATION_MS = 600;

/** Messages about a thread, a call or a session. */
export const noticeScenarios: readonly Scenario[] = [
  {
    name: 'close',
    title: 'a thread is closed; of three servers, one was called and hangs, one fails, one was not called',
    checks: ['RT-NOTIFY'],
    needs: ['end'],
    servers: [
      server('work', { faults: { close: { hang: true } } }),
      server('fail', { faults: { close: { status: 500 } } }),
      server('idle'),
    ],
    run: async session => {
      await session.call('work');
    },
  },
  {
    name: 'cancel',
    title: 'pending calls are canceled; the notice fails at one server',
    checks: ['RT-NOTIFY'],
    needs: ['cancel'],
    servers: [
      server('wait', { fixtures: [{ match: { operation: 'wait' }, ...SILENT }] }),
      server('stay', {
        fixtures: [{ match: { operation: 'stay' }, ...SILENT }],
        faults: { cancel: { status: 500 } },
      }),
    ],
    run: async session => {
      session.invoke('wait', { number: 1 });
      session.invoke('wait', { number: 2 });
      session.invoke('stay');
      await session.arrives('invocation', 4);
      session.ask({ do: 'cancel' });
      await session.arrives('cancel', 3);
      await session.settle();
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
      session.ask(migrate);
      await session.arrives('migrate', 2);
      await session.saw('migrated');
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
      session.ask(migrate);
      await session.arrives('migrate');
      await session.saw('failure');
      await session.quiet(MIGRATION_MS);
    },
  },
];

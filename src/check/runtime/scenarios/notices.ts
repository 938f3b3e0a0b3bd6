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

/** A server that could migrate, and does not declare it. */
const UNDECLARED = {
  ...migrating('undeclared'),
  document: { name: 'undeclared', tools: [tool('undeclared')] },
};

/** Nothing listens there. */
const migrate = { do: 'migrate', destination_url: 'http://127.0.0.1:9/' } as const;

/** How long after a failed migration no success may be reported, in ms. */
const MIGRATION_MS = 600;

/** Messages about a thread, a call or a session. */
export const noticeScenarios: readonly Scenario[] = [
  {
    name: 'close',
    title: 'a thread that is closed at three servers, of which one was called, one hangs and one fails',
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
    title: 'pending calls that are canceled; the notice fails at one server',
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
    title: 'a session that migrates: a slow server, one that does not declare it, and another one',
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
    title: 'a session whose migration fails at the only server that declares it',
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

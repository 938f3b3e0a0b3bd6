import type { Scenario, ScenarioSession } from '../scenario.js';

const DIFF = {
  view_type: 'diff',
  content: {
    patch:
      '--- a/notes.txt\n+++ b/notes.txt\n@@ -1 +1 @@\n-first line of the view\n+second line of the view\n',
  },
};

const FILES = {
  view_type: 'diff',
  content: {
    files: [
      {
        path: 'notes.txt',
        status: 'modified',
        oldContents: 'an old line of a file\n',
        newContents: 'a new line of a file\n',
      },
      { path: 'old.txt', status: 'deleted', oldContents: 'a deleted line of a file\n', newContents: '' },
    ],
  },
};

const step = (done: number) => ({
  view_type: 'progress',
  content: { done, of: 3, note: 'only people see it', more: [null, {}] },
});

/** An operation with a view of each step, then a result. */
function showing(operation: string, ...views: readonly object[]): object {
  return {
    match: { operation },
    reply: [...views.map(view => ({ view })), { payload: `${operation} is done` }],
  };
}

async function callAll(session: ScenarioSession, ...operations: readonly string[]): Promise<void> {
  for (const operation of operations) await session.call(operation);
  await session.settle();
}

/** Views of a thread. */
export const viewScenarios: readonly Scenario[] = [
  {
    name: 'view',
    title: 'a diff in both shapes: the later replaces the earlier, and an empty one clears it',
    checks: ['RT-VIEW'],
    servers: [
      {
        fixtures: [
          showing('edit', DIFF),
          showing('edit_files', FILES),
          showing('undo', { view_type: 'diff', content: {} }),
        ],
      },
    ],
    run: session => callAll(session, 'edit', 'edit_files', 'undo'),
  },
  {
    name: 'view-types',
    title: 'views of two types, of which one is unknown',
    checks: ['RT-VIEW'],
    servers: [{ fixtures: [showing('start', step(1), DIFF, step(2)), showing('finish', step(3))] }],
    run: session => callAll(session, 'start', 'finish'),
  },
];

import { isDeepStrictEqual } from 'node:util';
import type { Scenario, ScenarioSession } from '../scenario.js';

interface View {
  readonly view_type: string;
  readonly content: object;
}

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

const CLEARED = { view_type: 'diff', content: {} };

const step = (done: number): View => ({
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

/** Calls an operation, and waits until the user sees its views: a runtime may draw them late. */
async function callAndSee(
  session: ScenarioSession,
  operation: string,
  ...views: readonly View[]
): Promise<void> {
  await session.call(operation);
  for (const { view_type, content } of views)
    await session.saw(
      'view',
      each => each.view_type === view_type && isDeepStrictEqual(each.content ?? {}, content),
    );
}

/** Views of a thread. */
export const viewScenarios: readonly Scenario[] = [
  {
    name: 'view',
    title: 'a diff in both formats: a later one replaces it, and an empty one clears it',
    checks: ['RT-VIEW'],
    servers: [
      {
        fixtures: [showing('edit', DIFF), showing('edit_files', FILES), showing('undo', CLEARED)],
      },
    ],
    run: async session => {
      await callAndSee(session, 'edit', DIFF);
      await callAndSee(session, 'edit_files', FILES);
      await callAndSee(session, 'undo', CLEARED);
      await session.settle();
    },
  },
  {
    name: 'view-types',
    title: 'views of two types; one type is unknown',
    checks: ['RT-VIEW'],
    servers: [{ fixtures: [showing('start', step(1), DIFF, step(2)), showing('finish', step(3))] }],
    run: async session => {
      await callAndSee(session, 'start', DIFF, step(2));
      await callAndSee(session, 'finish', step(3));
      await session.settle();
    },
  },
];

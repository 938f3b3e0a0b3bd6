const ITS_OWN = 'each call has ids of its own';
const STAYS = 'it stays until you quit';
const DRAWN = 'it is drawn on the terminal';

/** What is about a single call, or about being told without a screen, and why it would do nothing in the workbench. */
export const IDLE_OPTIONS: ReadonlyMap<string, string> = new Map([
  ['--endpoint', 'without discovery there are no operations to choose from'],
  ['--mcp', 'the workbench speaks RAP'],
  ['--no-validate', 'you are shown what is wrong, and may send it all the same'],
  ['--dry-run', 'nothing is sent before you say so; a call can be copied as curl'],
  ['--id', ITS_OWN],
  ['--call-id', ITS_OWN],
  ['--no-close', 'threads are closed when you quit'],
  ['--linger', STAYS],
  ['--follow', STAYS],
  ['--repeat', 'a call is run again with a key'],
  ['--concurrency', 'it belongs to --repeat'],
  ['--choose', 'you are asked'],
  ['--output', DRAWN],
  ['--dialect', DRAWN],
  ['--quiet', DRAWN],
  ['--verbose', 'the wire of each call is a tab'],
]);

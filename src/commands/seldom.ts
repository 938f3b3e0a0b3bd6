export { runListen } from './listen/run.js';
export { runCancel, runCloseThread, runMigrate } from './notices/run.js';
export { runRecord } from './record/run.js';
export { runRender } from './render/run.js';
export { runToolset } from './toolset/run.js';

/**
 * What the commands beside `invoke` and `mock-tool` run, loaded as one: with an entry for each, what those two load would fall
 * into twice as many files, and each file takes its time.
 */

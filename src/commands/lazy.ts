/**
 * All commands except `invoke` and `mock-tool`, in one chunk: separate entries would split the code that those two load into twice as
 * many files, and each file costs start-up time.
 */
export { runListen } from './listen/run.js';
export { runCancel, runCloseThread, runMigrate } from './notices/run.js';
export { runRecord } from './record/run.js';
export { runRender } from './render/run.js';
export { runToolset } from './toolset/run.js';

export { callName } from './call-name.js';
export { type CallColumn, type CallRow, callRow } from './call-row.js';
export { detailLines } from './details/index.js';
export { elapsed } from './elapsed.js';
export { newsOf } from './news/index.js';
export { secretsOf } from './secrets.js';
export { NO_CALLS, stepTally, type Tally, tallyLine } from './tally.js';

/** Of many calls, loaded as one. */
export { jsonRepeats } from './json.js';
export { plainRepeats } from './plain.js';

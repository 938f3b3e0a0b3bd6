export { concerning } from './concerning.js';
export { type ExchangeColumn, type ExchangeRow, exchangeRow } from './exchange-row.js';
export { endHead, type Leg, requestHead } from './head-lines.js';
export { eventCount } from './standing.js';
export { lineBelow, type ToldEvent, toldBytes, toldEventLines } from './told-event.js';

export { concerning } from './concerning.js';
export { type ExchangeColumn, type ExchangeRow, exchangeRow } from './exchange-row.js';
export { endHead, type Leg, requestHead } from './head-lines.js';
export { judgedLines } from './judged-lines.js';
export { judgedRuntimeLines } from './judged-runtime-lines.js';
export { lineBelow, type ToldEvent, toldBytes, toldEventLines } from './told-event.js';

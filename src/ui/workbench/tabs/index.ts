export { TABS, type Tab, TITLES } from './sheet.js';
export { Sheets } from './sheets.js';
export { type Verdict, Verdicts } from './verdicts.js';

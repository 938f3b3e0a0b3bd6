export { TABS, type Tab, TITLES } from './sheet.js';
export { Sheets } from './sheets.js';

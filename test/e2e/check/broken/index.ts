import { acknowledgements } from './acknowledgements.js';
import type { BrokenTools } from './broken-tool.js';
import { callbacks } from './callbacks.js';
import { displays } from './displays.js';
import { flows } from './flows.js';
import { refusals } from './refusals.js';
import { servers } from './servers.js';

/** For each rule, tools that break it, and as little else as can be. */
export const BROKEN_TOOLS: BrokenTools = {
  ...acknowledgements,
  ...callbacks,
  ...refusals,
  ...displays,
  ...flows,
  ...servers,
};

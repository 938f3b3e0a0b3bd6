import type { ExitStatus } from './exit-status.js';
import type { Terminal } from './terminal.js';

/** Runs the body of a command in the real world: it gives the terminal, and turns what comes back into the exit status. */
export type RunCommand = (body: (terminal: Terminal) => Promise<ExitStatus>) => Promise<void>;

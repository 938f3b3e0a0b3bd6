import type { Terminal } from './terminal.js';

/** Runs the body of a command in the real world: it gives the terminal, and what comes back is the exit status: ours, or that of a command we ran. */
export type RunCommand = (body: (terminal: Terminal) => Promise<number>) => Promise<void>;

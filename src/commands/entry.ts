import type { Command } from 'commander';
import type { RunCommand } from './run-command.js';

/** What the list of all commands says of one, and how the rest of it is loaded: its options, its help, its subcommands. */
export interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<(run: RunCommand) => Command>;
}

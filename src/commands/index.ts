import type { Command } from 'commander';
import { invokeCommand } from './invoke/command.js';
import type { RunCommand } from './run-command.js';
import { toolsetCommand } from './toolset/command.js';

/** Every command there is. A new one is one folder and one line here. */
export const COMMANDS: readonly ((run: RunCommand) => Command)[] = [invokeCommand, toolsetCommand];

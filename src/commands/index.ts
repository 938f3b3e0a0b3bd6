import type { Command } from 'commander';
import { cancelCommand } from './cancel/command.js';
import { closeThreadCommand } from './close-thread/command.js';
import { invokeCommand } from './invoke/command.js';
import { listenCommand } from './listen/command.js';
import { migrateCommand } from './migrate/command.js';
import { mockToolCommand } from './mock-tool/command.js';
import { renderCommand } from './render/command.js';
import type { RunCommand } from './run-command.js';
import { toolsetCommand } from './toolset/command.js';

/** Every command there is. A new one is one folder and one line here. */
export const COMMANDS: readonly ((run: RunCommand) => Command)[] = [
  invokeCommand,
  mockToolCommand,
  toolsetCommand,
  renderCommand,
  listenCommand,
  cancelCommand,
  closeThreadCommand,
  migrateCommand,
];

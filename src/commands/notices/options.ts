import { type Command, Option } from 'commander';
import { bearerOption, duration, headerOption, valueOption } from '../options.js';
import type { HeaderOptions } from '../target.js';

/** What the commands that send a notice have in common. */
export interface NoticeOptions extends HeaderOptions {
  /** Milliseconds for the answer; 0 waits for ever. */
  readonly timeout: number;
  readonly output: 'plain' | 'json';
  readonly color: boolean;
}

/** Adds them to a command. @param patience the default of `--timeout`, as a person writes it */
export function withNoticeOptions(command: Command, patience: string): Command {
  return command
    .addOption(
      valueOption(
        '--timeout <duration>',
        'time to wait for the answer: 500ms, 2s; 0 waits forever',
        duration,
        duration(patience),
        patience,
      ),
    )
    .addOption(headerOption())
    .addOption(bearerOption())
    .addOption(
      new Option('-o, --output <format>', 'a line for each notice, or one object')
        .choices(['plain', 'json'])
        .default('plain'),
    )
    .option('--no-color', 'no colours (NO_COLOR works too)');
}

import { visible } from '../../util/visible.js';

/** Where an unexpected error occurred. */
export interface FaultScene {
  /** `protocol-cli/0.1.0`, and what it runs on. */
  readonly program: string;
  /** Code runs that is not ours: it may be that which failed, and its author needs the stack. */
  readonly hasGuests: boolean;
  readonly wantsStack: boolean;
}

/** What failed, whose fault that is, and where to report it; every line safe to print. */
export function faultText(error: unknown, scene: FaultScene): string {
  const { message, stack = message } = error instanceof Error ? error : new Error(String(error));
  const told = scene.wantsStack || scene.hasGuests ? stack : message;
  return `internal error: ${visible(told)}\nhint: ${hintFor(scene)}\n`;
}

function hintFor({ program, hasGuests, wantsStack }: FaultScene): string {
  const stack = wantsStack || hasGuests ? 'this stack trace' : 'the stack trace printed with DEBUG=1';
  const report = `Please report it with ${stack} (${program}); run "npm bugs protocol-cli" to open the issue tracker.`;
  return hasGuests
    ? `The error was not caught. If the stack trace names one of your modules, that module threw it; otherwise it is a bug in protocol-cli. ${report}`
    : `This is a bug in protocol-cli. ${report}`;
}

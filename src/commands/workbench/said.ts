import { ProtocolCliError } from '../../errors.js';
import type { Said } from '../../ui/workbench/controls.js';

export function done(text: string): Said {
  return { text, isBad: false };
}

export function failed(text: string): Said {
  return { text, isBad: true };
}

/** What a failure says, with what to do next, in a line. */
export function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const hint = error instanceof ProtocolCliError ? error.hint : undefined;
  return hint === undefined ? error.message : `${error.message}. ${hint}`;
}

/** A doing that says what came of it, also where it fails. */
export async function saying(work: () => Promise<Said>): Promise<Said> {
  try {
    return await work();
  } catch (error) {
    return failed(reasonOf(error));
  }
}

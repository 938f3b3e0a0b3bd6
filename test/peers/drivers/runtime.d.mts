import type { Readable, Writable } from 'node:stream';

export interface DriverStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** Extends the class of the example runtime. */
export type Change = (base: unknown) => unknown;

/** @param change default: that of the fault */
export function runDriver(
  driver: DriverStreams & { readonly fault?: string | undefined; readonly change?: Change },
): Promise<void>;

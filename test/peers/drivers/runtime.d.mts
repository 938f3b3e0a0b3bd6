import type { Readable, Writable } from 'node:stream';

export interface DriverStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** @param Variant a class of a right runtime @param methods an object between a right runtime and its class */
export function runDriver(
  driver: DriverStreams & {
    readonly fault?: string | undefined;
    readonly Variant?: unknown;
    readonly methods?: unknown;
  },
): Promise<void>;

import type { Readable, Writable } from 'node:stream';

export interface DriverStreams {
  readonly input: Readable;
  readonly output: Writable;
  readonly env: Readonly<Record<string, string | undefined>>;
}

export function runDriver(driver: DriverStreams & { readonly fault?: string | undefined }): Promise<void>;

import type { DriverStreams } from './runtime.mjs';

/** What right runtimes do, by name, with the scenarios that it could disturb. */
export const LEGAL: Readonly<Record<string, { readonly disturbs: readonly string[] }>>;

export function runLegal(name: string, driver: DriverStreams): Promise<void>;

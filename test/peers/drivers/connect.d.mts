import type { DriverStreams } from './runtime.mjs';

export function runConnect(driver: DriverStreams): Promise<void>;

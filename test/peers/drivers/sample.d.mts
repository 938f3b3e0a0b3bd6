import type { DriverStreams } from './runtime.mjs';

export function runSample(driver: DriverStreams): Promise<void>;

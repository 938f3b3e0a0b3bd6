import type { Change } from './runtime.mjs';

export const VARIANTS: Readonly<Record<string, Change>>;

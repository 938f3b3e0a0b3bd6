export const VARIANTS: Readonly<Record<string, unknown>>;

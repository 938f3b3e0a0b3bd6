/** By name: the requirement that is broken. */
export const FAULTS: Readonly<Record<string, { readonly breaks: string }>>;

/** By name: the requirement that is broken. */
export const FAULTS: Readonly<Record<string, { readonly breaks: string }>>;

/** The right runtime. */
export const PatientRuntime: { readonly prototype: object };

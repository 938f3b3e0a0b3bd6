/** Replaced at build time; from source it is the version of no release. */
declare const PROGRAM_VERSION: string | undefined;

/** Who wrote a transcript or sends a request: `protocol-cli/0.1.0`. */
export const PROGRAM = `protocol-cli/${typeof PROGRAM_VERSION === 'string' ? PROGRAM_VERSION : 'source'}`;

/** The code of a system or library error, such as `EPIPE`; empty if it has none. */
export function errnoOf(error: unknown): string {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : '';
}

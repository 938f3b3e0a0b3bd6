const SYNTAX = /[\\^$.*+?()[\]{}|/]/g;

/** Words to look for, as a person typed them: capitals matter only where there are some. */
export function patternOf(wanted: string): RegExp {
  const isExact = wanted !== wanted.toLowerCase();
  return new RegExp(wanted.replaceAll(SYNTAX, String.raw`\$&`), isExact ? 'u' : 'iu');
}

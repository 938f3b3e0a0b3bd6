import type { CallEvidence } from './evidence.js';
import { saidBy } from './said.js';

/** Characters of a text that are looked into. */
const LOOKED_AT = 256 * 1024;

const TRACES: readonly RegExp[] = [
  /^[ \t]{1,20}at [^\n]{0,300}(?::\d{1,7}:\d{1,7}\)?|\(<anonymous>\)|\(native\))[ \t]*$/m, // node
  /Traceback \(most recent call last\)|^[ \t]{0,20}File "[^"\n]{1,300}", line \d{1,7}/m, // python
  /^[ \t]{0,20}at [\w.$<>]{1,300}\((?:[\w$]{1,100}\.(?:java|kt|scala):\d{1,7}|Native Method|Unknown Source)\)/m, // java
  /^goroutine \d{1,9} \[|\.go:\d{1,7} \+0x[\da-f]{1,16}/m, // go
  /thread '[^'\n]{1,100}' panicked at/, // rust
  /^[ \t]{1,20}at [^\n]{1,300} in [^\n]{1,300}:line \d{1,7}/m, // .NET
];

const PATHS: readonly RegExp[] = [
  /(?<![\w:/.-])\/(?:home|Users|root|usr|opt|var|private|srv|tmp|mnt)\/[\w.@+-]{1,100}(?:\/[\w.@+-]{1,100}){0,40}/g,
  /\b[A-Za-z]:\\(?:[^\\/:*?"<>|\n]{1,100}\\){1,40}[^\\/:*?"<>|\s]{0,100}/g,
];

/** What of a tool's insides a text shows. */
export interface Internals {
  readonly what: string;
  /** Where in the text: the first character, and the one after the last. */
  readonly range: readonly [from: number, to: number];
}

/** What of a tool's insides an error text shows; null where it shows nothing. What the call itself said is nothing inside. */
export function internalsIn(whole: string, call: CallEvidence): Internals | null {
  const text = whole.slice(0, LOOKED_AT);
  const [trace] = TRACES.flatMap(each => each.exec(text) ?? []);
  if (trace !== undefined) return { what: 'a stack trace', range: rangeOf(trace, text.indexOf(trace)) };
  const said = saidBy(call);
  const paths = PATHS.flatMap(path => [...text.matchAll(path)]);
  const path = paths.find(([found]) => !said.some(each => each.includes(found)));
  return path ? { what: 'a path of the host', range: rangeOf(path[0], path.index) } : null;
}

function rangeOf(found: string, at: number): Internals['range'] {
  return [at, at + found.length];
}

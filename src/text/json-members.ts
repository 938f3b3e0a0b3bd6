import { type JsonTokenKind, scanJson } from './json-scan.js';

/** The direct members of a JSON object or list, each as it was written; of a key that is there twice the last one. Of a list by index. */
export function membersOf(text: string): ReadonlyMap<string, string> {
  const written = ([key, { from, to }]: [string, Span]) => [key, text.slice(from, to)] as const;
  return new Map([...spansOf(text)].map(written));
}

/** The same JSON with another string as a direct member of its object, and all else as it was written. */
export function withStringMember(text: string, name: string, value: string): string {
  const span = spansOf(text).get(name);
  return span ? text.slice(0, span.from) + JSON.stringify(value) + text.slice(span.to) : text;
}

/** A half-open range. */
interface Span {
  readonly from: number;
  readonly to: number;
}

function spansOf(text: string): Map<string, Span> {
  const members = new Map<string, Span>();
  let depth = 0;
  let isList = false;
  let key = '';
  let from = -1;
  let to = -1;
  const finish = () => {
    if (from >= 0) members.set(isList ? String(members.size) : key, { from, to });
    from = -1;
  };
  const goOn = (start: number, end: number) => {
    if (from < 0) from = start;
    to = end;
  };
  const name = () => {
    key = String(JSON.parse(text.slice(from, to)));
    from = -1;
  };
  const outside = (kind: JsonTokenKind, start: number) => {
    if (kind === 'open') isList = text.charAt(start) === '[';
    else finish();
  };
  scanJson(text, (kind, start, end) => {
    if (kind === 'close') depth--;
    if (depth === 0) outside(kind, start);
    else if (depth === 1 && kind === 'comma') finish();
    else if (depth === 1 && kind === 'colon') name();
    else goOn(start, end);
    if (kind === 'open') depth++;
  });
  return members;
}

/** Looks up parts of one JSON text by their path, each as it was written; null where there is none. A container is taken apart once. */
export function jsonParts(text: string): (path: readonly PropertyKey[]) => string | null {
  const known = new Map<string, ReadonlyMap<string, string>>();
  const partsOf = (container: string, place: string) => {
    const parts = known.get(place) ?? membersOf(container);
    known.set(place, parts);
    return parts;
  };
  return path => {
    let part: string | undefined = text;
    for (const [depth, key] of path.entries()) {
      if (part === undefined) return null;
      part = partsOf(part, JSON.stringify(path.slice(0, depth).map(String))).get(String(key));
    }
    return part ?? null;
  };
}

import { readdirSync, readFileSync } from 'node:fs';
import { join, posix } from 'node:path';

/** The text of every source file, by its path below `root` (`text/json.ts`). */
export type Sources = ReadonlyMap<string, string>;
/** Which files each file imports, types included; dynamic imports too. */
export type Graph = ReadonlyMap<string, readonly string[]>;

const CODE = /(?<!\.d)\.tsx?$/;
const GENERATED = /\/generated\//;

export function readSources(root: string): Sources {
  const paths = readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();
  const files = paths.filter(path => CODE.test(path) && !GENERATED.test(path));
  return new Map(files.map(path => [path.replaceAll('\\', '/'), readFileSync(join(root, path), 'utf8')]));
}

/** What a file imports, as written: `from '…'`, `import '…'`, `import('…')`. Comments do not count. */
export function specifiersOf(source: string): string[] {
  const code = source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/^\s*\/\/.*$/gm, '');
  const found = code.matchAll(/\bfrom\s+'([^']+)'|\bimport\s+'([^']+)'|\bimport\(\s*'([^']+)'/g);
  return [...found].map(([, from, bare, dynamic]) => from ?? bare ?? dynamic ?? '');
}

export function graphOf(sources: Sources): Graph {
  return new Map(
    [...sources].map(([path, source]) => {
      const own = specifiersOf(source).filter(specifier => specifier.startsWith('.'));
      return [
        path,
        own.map(specifier => resolved(path, specifier, sources)).filter(target => target !== null),
      ];
    }),
  );
}

/** The file meant by a relative specifier; null where it is not a source of ours (generated code, data). */
function resolved(from: string, specifier: string, sources: Sources): string | null {
  const path = posix.join(posix.dirname(from), specifier).replace(/\.jsx?$/, '');
  return [`${path}.ts`, `${path}.tsx`].find(candidate => sources.has(candidate)) ?? null;
}

/** The same graph between top-level rooms; a file at the root is a room of its own. */
export function roomGraph(graph: Graph): Graph {
  const rooms = new Map<string, string[]>();
  for (const [path, targets] of graph) {
    const room = roomOf(path);
    const others = targets.map(roomOf).filter(target => target !== room);
    rooms.set(room, [...new Set([...(rooms.get(room) ?? []), ...others])]);
  }
  return rooms;
}

export function roomOf(path: string): string {
  return path.includes('/') ? path.slice(0, path.indexOf('/')) : path.replace(/\.tsx?$/, '');
}

/** One cycle of the graph as `a → b → a`; null where none exists. */
export function cycleIn(graph: Graph): string | null {
  const done = new Set<string>();
  const visit = (node: string, path: readonly string[]): string | null => {
    if (path.includes(node)) return [...path.slice(path.indexOf(node)), node].join(' → ');
    if (done.has(node)) return null;
    for (const target of graph.get(node) ?? []) {
      const cycle = visit(target, [...path, node]);
      if (cycle) return cycle;
    }
    done.add(node);
    return null;
  };
  for (const node of graph.keys()) {
    const cycle = visit(node, []);
    if (cycle) return cycle;
  }
  return null;
}

import { type Graph, roomGraph, type Sources, specifiersOf } from './imports.js';

/** The folders each folder of src may import. A folder that is not listed here may not exist. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = (() => {
  const protocol = ['util', 'json-schema', 'protocol'];
  const events = [...protocol, 'dialects', 'events'];
  const role = [...events, 'fixtures', 'http', 'system', 'verification'];
  const check = [...role, 'segments', 'runtime', 'mock'];
  const render = [...events, 'segments', 'fixtures', 'system', 'verification', 'check', 'render'];
  const commands = [
    ...new Set([...check, ...render, 'mock', 'agent-session', 'record', 'tui', 'package-root']),
  ];
  return {
    util: [],
    'json-schema': ['util'],
    protocol: ['util', 'json-schema'],
    dialects: protocol,
    events: [...protocol, 'dialects'],
    segments: events,
    verification: events,
    fixtures: events,
    http: ['util', 'system'],
    system: ['util'],
    runtime: role,
    mock: role,
    'agent-session': role,
    record: role,
    check,
    render: render.filter(folder => folder !== 'render'),
    tui: render,
    commands,
    cli: ['util', 'commands', 'render', 'system'],
    library: [...role, 'runtime', 'mock', 'agent-session'],
    index: [...check, 'check', 'agent-session', 'library'],
    'package-root': [],
  };
})();

/** Every import that points the wrong way. */
export function wrongWays(graph: Graph): string[] {
  return [...roomGraph(graph)].flatMap(([room, targets]) => {
    const allowed = MAY_IMPORT[room];
    if (!allowed) return [`${room} is not a room of the design`];
    return targets.filter(target => !allowed.includes(target)).map(target => `${room} imports ${target}`);
  });
}

/** Folders without sockets, files, processes, clocks and terminals; a time limit needs a clock, and files in reserve. */
const PURE =
  /^(util(?!\/(time-limit|spare-files))|json-schema|protocol|dialects|events|verification|segments|fixtures|check(?!\/(probes|drive))|render(?!\/outputs))\//;
const MACHINERY =
  /^(node:)?(net|tls|dgram|https?|http2|fs|fs\/promises|child_process|cluster|worker_threads|readline|readline\/promises|tty|timers|timers\/promises|dns|dns\/promises|os|perf_hooks)$/;
const WORLD =
  /\b(Date\.now|new Date\(|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|process\.|console\.|fetch\()/;

/** What a pure room touches of the world: sockets, files, processes, clocks, the terminal. */
export function impurities(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => PURE.test(path))
    .flatMap(([path, source]) => {
      const modules = specifiersOf(source).filter(specifier => MACHINERY.test(specifier));
      const [word] = WORLD.exec(withoutComments(source)) ?? [];
      return [...modules, ...(word ? [word] : [])].map(what => `${path} touches ${what}`);
    });
}

/**
 * `process.argv` and `process.exitCode` outside of the composition root, and `process.exit` too; with a status of its own
 * anywhere: the one `process.exit()` there is comes after everything was written, for code that is not ours.
 */
export function strayProcess(sources: Sources): string[] {
  return [...sources].flatMap(([path, source]) => {
    const code = withoutComments(source);
    const words = path === 'cli.ts' ? /\bprocess\.exit\((?!\))/g : /\bprocess\.(argv\b|exitCode\b|exit\()/g;
    return (code.match(words) ?? []).map(what => `${path} uses ${what}`);
  });
}

const DRAWING = /^(ink|react|chalk)$/;
const STYLING = /\b(createTheme|styleLine|wrapLine)\b/;

/** What a `.ts` file of `tui/` draws or colours: only components, in `.tsx` files, do. */
export function strayDrawing(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => path.startsWith('tui/') && path.endsWith('.ts'))
    .flatMap(([path, source]) => {
      const modules = specifiersOf(source).filter(specifier => DRAWING.test(specifier));
      const [word] = STYLING.exec(withoutComments(source)) ?? [];
      return [...modules, ...(word ? [word] : [])].map(what => `${path} uses ${what}`);
    });
}

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}

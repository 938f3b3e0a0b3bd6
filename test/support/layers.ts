import { type Graph, roomGraph, roomOf, type Sources, specifiersOf } from './imports.js';

/** What each room may import (the design, section 3). A room that is not here may not exist. */
export const MAY_IMPORT: Readonly<Record<string, readonly string[]>> = (() => {
  const base = ['errors', 'text'];
  const protocol = [...base, 'json-schema', 'protocol'];
  const exchange = [...protocol, 'outcome', 'dialects', 'exchange'];
  const story = [...exchange, 'display', 'rules', 'story'];
  const apart = [...base, 'transport', 'system'];
  const rules = [...exchange, 'display', 'fixtures', 'rules'];
  const role = [...exchange, 'fixtures', 'transport', 'system'];
  const telling = [...story, 'dress', 'system'];
  const commands = [
    ...new Set([
      ...role,
      ...telling,
      'runtime',
      'tool',
      'session',
      'recorder',
      'probes',
      'reporters',
      'ui',
      'package-root',
    ]),
  ];
  return {
    errors: [],
    text: [],
    'json-schema': base,
    protocol: [...base, 'json-schema'],
    outcome: protocol,
    dialects: [...protocol, 'outcome'],
    exchange: [...protocol, 'outcome', 'dialects'],
    display: [...protocol, 'outcome', 'exchange'],
    fixtures: [...protocol, 'outcome', 'exchange'],
    rules: rules.filter(room => room !== 'rules'),
    story: [...exchange, 'display', 'rules'],
    dress: story,
    transport: apart.filter(room => room !== 'transport'),
    system: base,
    runtime: role,
    tool: role,
    session: role,
    recorder: role,
    probes: [...role, 'runtime'],
    reporters: telling,
    ui: [...telling, 'reporters'],
    commands,
    cli: [...base, 'commands', 'reporters', 'system'],
    index: [...commands, 'commands'],
    'package-root': [],
  };
})();

/** Every import that points the wrong way. */
export function wrongWays(graph: Graph): string[] {
  return [...roomGraph(graph)].flatMap(([room, targets]) => {
    const allowed = MAY_IMPORT[room];
    if (!allowed) return [`${room} is no room of the design`];
    return targets.filter(target => !allowed.includes(target)).map(target => `${room} imports ${target}`);
  });
}

const PURE = [
  'text',
  'json-schema',
  'protocol',
  'outcome',
  'dialects',
  'exchange',
  'display',
  'fixtures',
  'rules',
  'story',
  'dress',
];
const MACHINERY =
  /^(node:)?(net|tls|dgram|https?|http2|fs|fs\/promises|child_process|cluster|worker_threads|readline|readline\/promises|tty|timers|timers\/promises|dns|dns\/promises|os|perf_hooks)$/;
const WORLD =
  /\b(Date\.now|new Date\(|performance\.now|setTimeout|setInterval|setImmediate|queueMicrotask|Math\.random|process\.|console\.|fetch\()/;

/** What a pure room touches of the world: sockets, files, processes, clocks, the terminal. */
export function impurities(sources: Sources): string[] {
  return [...sources]
    .filter(([path]) => PURE.includes(roomOf(path)))
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

function withoutComments(source: string): string {
  return source.replaceAll(/\/\*[\s\S]*?\*\//g, '').replaceAll(/\/\/.*$/gm, '');
}

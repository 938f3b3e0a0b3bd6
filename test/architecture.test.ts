import { describe, expect, test } from 'vitest';
import { cycleIn, graphOf, readSources, roomGraph, type Sources, specifiersOf } from './support/imports.js';
import { impurities, MAY_IMPORT, strayProcess, wrongWays } from './support/layers.js';

const sources = readSources(new URL('../src', import.meta.url).pathname);
const graph = graphOf(sources);
const sizes = [...sources].map(([path, source]) => ({ path, lines: source.split('\n').length - 1 }));

/** A made-up project, to show that a rule bites. */
const madeUp = (files: Readonly<Record<string, string>>): Sources => new Map(Object.entries(files));
const graphOfMadeUp = (files: Readonly<Record<string, string>>) => graphOf(madeUp(files));

test('the sources are all there', () => {
  expect(sources.size).toBeGreaterThan(100);
  expect(Object.keys(MAY_IMPORT).sort()).toEqual([...roomGraph(graph).keys()].sort());
});

describe('imports are read', () => {
  test.each([
    ["import { a } from './a.js';", ['./a.js']],
    ["import type { A } from '../text/a.js';", ['../text/a.js']],
    ["import {\n  a,\n  b,\n} from './a.js';", ['./a.js']],
    ["import './a.js';", ['./a.js']],
    ["export { a } from './a.js';", ['./a.js']],
    ["const { a } = await import('./a.js');", ['./a.js']],
    ["import x from './x.json' with { type: 'json' };", ['./x.json']],
    ["// import './a.js';\n/** from './b.js' */", []],
  ])('%s', (source, specifiers) => {
    expect(specifiersOf(source)).toEqual(specifiers);
  });
});

describe('imports point one way', () => {
  test('in src', () => {
    expect(wrongWays(graph)).toEqual([]);
  });

  test.each([
    ['text/a.ts', "import './../protocol/b.js';", 'protocol/b.ts', 'text imports protocol'],
    [
      'transport/a.ts',
      "import type { B } from '../exchange/b.js';",
      'exchange/b.ts',
      'transport imports exchange',
    ],
    ['runtime/a.ts', "await import('../tool/b.js');", 'tool/b.ts', 'runtime imports tool'],
    [
      'reporters/a.ts',
      "export { b } from '../commands/b.js';",
      'commands/b.ts',
      'reporters imports commands',
    ],
    ['text/a.ts', "import { b } from '../index.js';", 'index.ts', 'text imports index'],
    ['helpers/a.ts', '', 'text/b.ts', 'helpers is no room of the design'],
  ])('and it bites: %s with %s', (path, source, other, fault) => {
    expect(wrongWays(graphOfMadeUp({ [path]: source, [other]: '' }))).toEqual([fault]);
  });
});

describe('nothing imports the library', () => {
  const importers = (of: typeof graph) =>
    [...of].filter(([, targets]) => targets.includes('index.ts')).map(([path]) => path);

  test('in src', () => {
    expect(importers(graph)).toEqual([]);
  });

  test('and it bites', () => {
    expect(importers(graphOfMadeUp({ 'cli.ts': "import './index.js';", 'index.ts': '' }))).toEqual([
      'cli.ts',
    ]);
  });
});

describe('no cycles', () => {
  test('between files, types included', () => {
    expect(cycleIn(graph)).toBeNull();
  });

  test('between rooms', () => {
    expect(cycleIn(roomGraph(graph))).toBeNull();
  });

  test('and it bites', () => {
    const files = {
      'text/a.ts': "import type { B } from './b.js';",
      'text/b.ts': "import { c } from '../story/c.js';",
      'story/c.ts': "import { d } from '../text/d.js';",
      'text/d.ts': '',
    };
    expect(cycleIn(graphOfMadeUp(files))).toBeNull();
    expect(cycleIn(roomGraph(graphOfMadeUp(files)))).toBe('text → story → text');
    expect(cycleIn(graphOfMadeUp({ ...files, 'text/d.ts': "import './a.js';" }))).toBe(
      'text/a.ts → text/b.ts → story/c.ts → text/d.ts → text/a.ts',
    );
  });
});

describe('the pure rooms touch nothing of the world', () => {
  test('in src', () => {
    expect(impurities(sources)).toEqual([]);
  });

  test.each([
    ["import { connect } from 'node:net';", 'node:net'],
    ["import { readFile } from 'node:fs/promises';", 'node:fs/promises'],
    ["await import('node:child_process');", 'node:child_process'],
    ['const now = Date.now();', 'Date.now'],
    ['const now = performance.now();', 'performance.now'],
    ['setTimeout(call, 1);', 'setTimeout'],
    ["process.stdout.write('');", 'process.'],
  ])('and it bites: %s', (source, what) => {
    expect(impurities(madeUp({ 'story/a.ts': source }))).toEqual([`story/a.ts touches ${what}`]);
    expect(impurities(madeUp({ 'runtime/a.ts': source }))).toEqual([]);
  });

  test('and a comment is no offence', () => {
    expect(impurities(madeUp({ 'story/a.ts': '/** unlike setTimeout */ // Date.now()' }))).toEqual([]);
  });
});

describe('only the composition root knows argv and the exit status', () => {
  test('in src', () => {
    expect(strayProcess(sources)).toEqual([]);
  });

  test.each([
    ['commands/a.ts', 'process.exitCode = 1;', 'process.exitCode'],
    ['ui/a.tsx', 'process.argv[2];', 'process.argv'],
    ['cli.ts', 'process.exit(1);', 'process.exit('],
    ['system/a.ts', 'process.exit();', 'process.exit('],
  ])('and it bites: %s with %s', (path, source, what) => {
    expect(strayProcess(madeUp({ [path]: source }))).toEqual([`${path} uses ${what}`]);
  });
});

describe('small rooms', () => {
  test('no file is over 350 lines', () => {
    expect(sizes.filter(({ lines }) => lines > 350)).toEqual([]);
  });

  test('the median is under 70', () => {
    const sorted = sizes.map(({ lines }) => lines).sort((a, b) => a - b);
    expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThan(70);
  });
});

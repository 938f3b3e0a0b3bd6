import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { cycleIn, graphOf, readSources, roomGraph, type Sources, specifiersOf } from './support/imports.js';
import { impurities, MAY_IMPORT, strayDrawing, strayProcess, wrongWays } from './support/layers.js';

const sources = readSources(fileURLToPath(new URL('../src', import.meta.url)));
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
    ["import type { A } from '../util/a.js';", ['../util/a.js']],
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
    ['util/a.ts', "import './../protocol/b.js';", 'protocol/b.ts', 'util imports protocol'],
    ['http/a.ts', "import type { B } from '../events/b.js';", 'events/b.ts', 'http imports events'],
    ['runtime/a.ts', "await import('../mock/b.js');", 'mock/b.ts', 'runtime imports mock'],
    ['render/a.ts', "export { b } from '../commands/b.js';", 'commands/b.ts', 'render imports commands'],
    ['util/a.ts', "import { b } from '../index.js';", 'index.ts', 'util imports index'],
    ['helpers/a.ts', '', 'util/b.ts', 'helpers is not a room of the design'],
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
      'util/a.ts': "import type { B } from './b.js';",
      'util/b.ts': "import { c } from '../render/c.js';",
      'render/c.ts': "import { d } from '../util/d.js';",
      'util/d.ts': '',
    };
    expect(cycleIn(graphOfMadeUp(files))).toBeNull();
    expect(cycleIn(roomGraph(graphOfMadeUp(files)))).toBe('util → render → util');
    expect(cycleIn(graphOfMadeUp({ ...files, 'util/d.ts': "import './a.js';" }))).toBe(
      'util/a.ts → util/b.ts → render/c.ts → util/d.ts → util/a.ts',
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
    expect(impurities(madeUp({ 'render/a.ts': source }))).toEqual([`render/a.ts touches ${what}`]);
    expect(impurities(madeUp({ 'runtime/a.ts': source }))).toEqual([]);
  });

  test('and a comment is not an offence', () => {
    expect(impurities(madeUp({ 'render/a.ts': '/** unlike setTimeout */ // Date.now()' }))).toEqual([]);
  });
});

describe('only the composition root knows argv and the exit status', () => {
  test('in src', () => {
    expect(strayProcess(sources)).toEqual([]);
  });

  test.each([
    ['commands/a.ts', 'process.exitCode = 1;', 'process.exitCode'],
    ['tui/a.tsx', 'process.argv[2];', 'process.argv'],
    ['cli.ts', 'process.exit(1);', 'process.exit('],
    ['system/a.ts', 'process.exit();', 'process.exit('],
  ])('and it bites: %s with %s', (path, source, what) => {
    expect(strayProcess(madeUp({ [path]: source }))).toEqual([`${path} uses ${what}`]);
  });
});

describe('only components draw', () => {
  test('in src', () => {
    expect(strayDrawing(sources)).toEqual([]);
  });

  test.each([
    ["import { Box } from 'ink';", 'ink'],
    ["import { useState } from 'react';", 'react'],
    ["import chalk from 'chalk';", 'chalk'],
    ["import { styleLine } from '../render/terminal/theme.js';", 'styleLine'],
  ])('and it bites: %s', (source, what) => {
    expect(strayDrawing(madeUp({ 'tui/a.ts': source }))).toEqual([`tui/a.ts uses ${what}`]);
    expect(strayDrawing(madeUp({ 'tui/A.tsx': source }))).toEqual([]);
  });
});

describe('module sizes', () => {
  test('no file is over 500 lines', () => {
    expect(sizes.filter(({ lines }) => lines > 500)).toEqual([]);
  });
});

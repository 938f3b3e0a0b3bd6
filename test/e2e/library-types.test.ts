import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import ts from 'typescript';
import { beforeAll, expect, test } from 'vitest';
import * as library from '../../src/index.js';
import { declarations } from './support/declarations.js';
import { ROOT } from './support/program.js';

/** One declaration of the library's types. */
interface Declared {
  readonly name: string;
  /** Its doc comment; empty without one. */
  readonly comment: string;
  /** The code of its example. */
  readonly example: string | undefined;
}

let path = '';
let text = '';
let declared: readonly Declared[];

beforeAll(async () => {
  path = await declarations();
  text = await readFile(path, 'utf8');
  const source = ts.createSourceFile(path, text, ts.ScriptTarget.Latest, true);
  declared = source.statements.flatMap(statement => {
    const name = nameOf(statement);
    const comment = ts
      .getJSDocCommentsAndTags(statement)
      .map(each => each.getText())
      .join('\n');
    return name === undefined ? [] : [{ name, comment, example: exampleIn(comment) }];
  });
}, 180_000);

test('the types of the library import zod and nothing else', () => {
  const imports = [...text.matchAll(/\b(?:from|import\() *['"]([^'"]+)['"]/g)].map(([, from]) => from);
  expect(imports).toEqual(['zod/mini']);
});

test('the types of the library have no internals: each one is exported', () => {
  const lists = [...text.matchAll(/^export (?:type )?\{ (.*) \};$/gm)].flatMap(([, list = '']) =>
    list.split(', '),
  );
  const exported = new Set(lists.map(each => each.replace(/ as .*/, '')));
  expect(declared.map(({ name }) => name).filter(name => !exported.has(name))).toEqual([]);
});

test('each type of the library has a doc comment, and each value an example', () => {
  expect(declared.filter(({ comment }) => comment === '').map(({ name }) => name)).toEqual([]);
  const values = Object.keys(library);
  const withExample = declared.filter(({ example }) => example !== undefined).map(({ name }) => name);
  expect(values.filter(name => !withExample.includes(name))).toEqual([]);
});

test('the examples compile', () => {
  const examples = declared.filter(({ example }) => example !== undefined);
  const files = new Map(examples.map(each => [join(ROOT, `example-${each.name}.ts`), programOf(each)]));
  expect(files.size).toBeGreaterThan(40);
  const options: ts.CompilerOptions = {
    target: ts.ScriptTarget.ES2023,
    lib: ['lib.es2024.d.ts', 'lib.esnext.disposable.d.ts'],
    module: ts.ModuleKind.NodeNext,
    types: ['node'],
    strict: true,
    noEmit: true,
    paths: { 'protocol-cli': [path] },
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists, readFile: readText } = host;
  host.fileExists = name => files.has(name) || fileExists(name);
  host.readFile = name => files.get(name) ?? readText(name);
  host.getSourceFile = (name, ...rest) => {
    const example = files.get(name);
    return example === undefined
      ? getSourceFile.call(host, name, ...rest)
      : ts.createSourceFile(name, example, ts.ScriptTarget.ES2023);
  };
  const program = ts.createProgram({ rootNames: [...files.keys()], options, host });
  const faults = ts
    .getPreEmitDiagnostics(program)
    .map(
      ({ file, messageText }) => `${file?.fileName}: ${ts.flattenDiagnosticMessageText(messageText, '\n')}`,
    );
  expect(faults).toEqual([]);
});

/** An example with the imports and the variables that readers supply. */
function programOf({ name, example = '' }: Declared): string {
  const names = Object.keys(library).concat(declared.map(each => each.name));
  const used = [...new Set(names)].filter(each => new RegExp(`\\b${each}\\b`).test(example));
  const isOwn = (each: string) => new RegExp(`\\b(?:const|function) ${each}\\b`).test(example);
  const supplied = {
    readFile: "import { readFile } from 'node:fs/promises';",
    lines: 'declare const lines: string[];',
    events: "declare const events: import('protocol-cli').Event[];",
    tool: "declare const tool: import('protocol-cli').Connection;",
    runAgent: 'declare function runAgent(url: string): Promise<void>;',
  };
  const needed = Object.entries(supplied).filter(
    ([variable]) =>
      new RegExp(`(?<!['\\w]|\\w\\.)${variable}\\b`).test(example) &&
      !new RegExp(`\\b(?:const|using) (?:\\{[^}]*)?\\b${variable}\\b`).test(example),
  );
  return [
    `import { ${used
      .filter(each => !isOwn(each))
      .map(each => (each in library ? each : `type ${each}`))
      .join(', ')} } from 'protocol-cli';`,
    ...needed.map(([, code]) => code),
    example,
    `export { }; // ${name}`,
  ].join('\n');
}

function nameOf(statement: ts.Statement): string | undefined {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]?.name.getText();
  if (
    ts.isInterfaceDeclaration(statement) ||
    ts.isTypeAliasDeclaration(statement) ||
    ts.isFunctionDeclaration(statement) ||
    ts.isClassDeclaration(statement)
  )
    return statement.name?.text;
  return undefined;
}

function exampleIn(comment: string): string | undefined {
  return /@example\n([\s\S]*?)(?=\n \* @|\n \*\/|$)/
    .exec(comment)?.[1]
    ?.split('\n')
    .map(line => line.replace(/^ \* ?/, ''))
    .join('\n');
}

import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const CONFIG = fileURLToPath(new URL('types.json', import.meta.url));
const SOURCE = fileURLToPath(new URL('../src/', import.meta.url));
const OPTIONS = {
  noEmit: false,
  noCheck: true,
  declaration: true,
  emitDeclarationOnly: true,
  rootDir: SOURCE,
};

/** Writes the declarations that a user of the library comes by, and no others. What is wrong with types, `npm run typecheck` says. */
export async function emitTypes(outDir) {
  const host = { ...ts.sys, onUnRecoverableConfigFileDiagnostic: fail };
  const { fileNames, options } = ts.getParsedCommandLineOfConfigFile(CONFIG, OPTIONS, host);
  const program = ts.createProgram(fileNames, options);
  const reached = new Map(fileNames.map(name => [resolve(name), '']));
  for (const file of reached.keys()) {
    const text = declarationOf(program, file);
    reached.set(file, text);
    for (const name of importsOf(text, file)) if (!reached.has(name)) reached.set(name, '');
  }
  await Promise.all([...reached].map(([file, text]) => write(join(outDir, relative(SOURCE, file)), text)));
}

function declarationOf(program, file) {
  let declaration;
  const source = program.getSourceFile(file);
  program.emit(source, (_, text) => (declaration = text), undefined, true);
  if (declaration === undefined) fail({ messageText: `no declarations of ${file}` });
  return declaration;
}

/** Our own modules that declarations speak of. */
function importsOf(text, file) {
  const names = ts.preProcessFile(text).importedFiles.map(({ fileName }) => fileName);
  const own = names.filter(name => name.startsWith('.')).map(name => resolve(dirname(file), name));
  return own.map(name =>
    [name.replace(/\.js$/, '.ts'), name.replace(/\.js$/, '.tsx')].find(ts.sys.fileExists),
  );
}

async function write(path, text) {
  const declarations = path.replace(/\.tsx?$/, '.d.ts');
  await mkdir(dirname(declarations), { recursive: true });
  await writeFile(declarations, text);
}

function fail({ messageText }) {
  throw new Error(ts.flattenDiagnosticMessageText(messageText, '\n'));
}

import { existsSync } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { toolSchema } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { ProtocolCliError } from '../util/errors.js';
import { asUtf8 } from '../util/text.js';
import type { ToolDefinition } from './handlers.js';
import type { Middleware } from './middleware.js';

const FIXTURES = /\.(ya?ml|json)$/i;

const MODULE = /\.[cm]?[jt]s$/i;

const NO_FIXTURES = /\.schema\.json$/i;

/**
 * Lists fixture files: files as given, and of each folder its direct files in order of names. Transcripts in a folder are skipped: a
 * saved or logged transcript must not answer calls by accident.
 * @param hint what to do about a path at which nothing is
 * @throws ProtocolCliError `unreadable-file`.
 */
export async function fixtureFiles(
  paths: readonly string[],
  hint: string = FILE_HINT,
): Promise<readonly string[]> {
  const found = await Promise.all(paths.map(path => filesAt(path, hint)));
  return found.flat();
}

export class FixtureFile {
  constructor(
    readonly path: string,
    readonly bytes: Uint8Array,
  ) {}

  /** @throws ProtocolCliError `unreadable-file`. */
  get text(): string {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(this.bytes);
    } catch (cause) {
      const message = `cannot read the fixtures ${this.path}: not valid UTF-8`;
      throw new ProtocolCliError('unreadable-file', message, { hint: FILE_HINT, cause });
    }
  }
}

/** @throws ProtocolCliError `unreadable-file`. */
export function readFixtureFiles(files: readonly string[]): Promise<FixtureFile[]> {
  return Promise.all(
    files.map(async path => {
      const bytes = await readFile(path).catch(async cause => {
        throw await cannotRead(path, cause, FILE_HINT);
      });
      return new FixtureFile(path, asUtf8(bytes));
    }),
  );
}

async function filesAt(path: string, hint: string): Promise<string[]> {
  const about = await stat(path).catch(async cause => {
    throw await cannotRead(path, cause, hint);
  });
  const isFolder = about.isDirectory();
  if (!isFolder && MODULE.test(path))
    throw new ProtocolCliError('usage', `${path} is a module, not fixtures`, {
      hint: `Give it with --handlers: --handlers ${path}.`,
    });
  if (!isFolder) return [path];
  const entries = await readdir(path, { withFileTypes: true });
  const names = entries
    .filter(entry => entry.isFile() && FIXTURES.test(entry.name) && !NO_FIXTURES.test(entry.name))
    .map(entry => join(path, entry.name))
    .sort();
  if (names.length > 0) return names;
  throw new ProtocolCliError('unreadable-file', `no fixtures in the folder ${path}`, {
    hint: 'Fixtures are files that end in .yaml, .yml or .json; transcripts are named one by one.',
  });
}

const FILE_HINT = 'Give the path of a YAML or JSON file that exists, or of a folder of them.';

async function cannotRead(path: string, cause: unknown, hint: string): Promise<ProtocolCliError> {
  const { readError: unreadable } = await import('../system/file-system-errors.js');
  return unreadable(path, cause, hint, `the fixtures ${path}`);
}

const functionSchema = z.custom<ToolDefinition['handle']>(
  value => typeof value === 'function',
  'must be a function',
);

const definitionSchema = z.looseObject({ ...toolSchema.shape, handle: functionSchema });

const middlewareSchema = z.looseObject({
  onRequest: z.optional(functionSchema),
  onResponse: z.optional(functionSchema),
});

export interface LoadedHandlers {
  readonly handlers: readonly ToolDefinition[];
  readonly middleware: readonly Middleware[];
}

/**
 * Loads the module of `--handlers`: tools from the default export, and middleware from the export `middleware`. This is the only place
 * that runs untrusted code (threats, row 29).
 * @throws ProtocolCliError `unreadable-file` if it cannot be loaded, or an export is invalid.
 */
export async function loadHandlers(path: string, cwd: string): Promise<LoadedHandlers> {
  const file = resolve(cwd, path);
  const loaded: { readonly default?: unknown; readonly middleware?: unknown } = await import(
    pathToFileURL(file).href
  ).catch(cause => {
    throw loadError(path, file, cause);
  });
  const middleware = loaded.middleware === undefined ? [] : [loaded.middleware].flat();
  const middlewareFaults = faultsOf(middlewareSchema, middleware, 'middleware');
  if (middlewareFaults.length > 0)
    throw new ProtocolCliError('unreadable-file', `${path} exports an invalid middleware`, {
      faults: middlewareFaults,
      hint: 'export const middleware = { onRequest(invocation) { … }, onResponse(payload, invocation) { … } }, or a list of them.',
    });
  const handlers = loaded.default === undefined && middleware.length > 0 ? [] : [loaded.default].flat();
  const faults = faultsOf(definitionSchema, handlers, 'default');
  if (faults.length > 0 || handlers.length + middleware.length === 0)
    throw new ProtocolCliError('unreadable-file', `${path} does not export a tool by default`, {
      faults,
      hint: 'export default defineTool({ name, description, inputSchema, handle }), or a list of them.',
    });
  return { handlers: handlers as ToolDefinition[], middleware: middleware as Middleware[] }; // checked by their schemas
}

function faultsOf(schema: z.ZodMiniType, values: readonly unknown[], name: string): string[] {
  return values.flatMap((value, index) => {
    const checked = validate(schema, value);
    return checked.ok ? [] : checked.faults.map(fault => fault.replace('$', `${name}[${index}]`));
  });
}

const ES_MODULE = 'It must be an ES module (.mjs, or .js in a package of "type": "module").';

function loadError(path: string, file: string, cause: unknown): ProtocolCliError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const [, missing] = /^Cannot find package '([^']+)'/.exec(reason) ?? [];
  const error = (why: string, hint: string) =>
    new ProtocolCliError('unreadable-file', `${path} cannot be loaded: ${why}`, { hint, cause });
  if (!existsSync(file))
    return error('file not found', 'Give the path of an ES module that exports defineTool(…) by default.');
  if (missing !== undefined) return error(reason, `Install it where ${path} is: npm install ${missing}`);
  if (cause instanceof SyntaxError) return error(reason, `node --check ${path} shows the line. ${ES_MODULE}`);
  return error(reason, `The module threw an error while loading. ${ES_MODULE}`);
}

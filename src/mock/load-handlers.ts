import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { toolSchema } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { ProtocolCliError } from '../util/errors.js';
import type { ToolDefinition } from './handlers.js';
import type { Middleware } from './middleware.js';

const definitionSchema = z.looseObject({
  ...toolSchema.shape,
  handle: z.custom<ToolDefinition['handle']>(value => typeof value === 'function', 'must be a function'),
});

const hookSchema = z.optional(z.custom(value => typeof value === 'function', 'must be a function'));
const middlewareSchema = z.looseObject({ onRequest: hookSchema, onResponse: hookSchema });

/** What a module of handlers exports: tools by default, and middleware by the name `middleware`. */
export interface HandlerModule {
  readonly handlers: readonly ToolDefinition[];
  readonly middleware: readonly Middleware[];
}

/**
 * Loads the module a person named with `--handlers`: the one place where code is run that is not ours (threats, row 29).
 * @throws ProtocolCliError `unreadable-file` if it cannot be loaded or its default export is not a tool.
 */
export async function loadHandlers(path: string, cwd: string): Promise<HandlerModule> {
  const file = resolve(cwd, path);
  const loaded: { readonly default?: unknown; readonly middleware?: unknown } = await import(
    pathToFileURL(file).href
  ).catch(cause => {
    throw unloadable(path, file, cause);
  });
  const middleware = readMiddleware(loaded.middleware, path);
  const isBare = loaded.default === undefined && middleware.length > 0;
  return { handlers: isBare ? [] : readDefinitions(loaded.default, path), middleware };
}

/** @throws ProtocolCliError `unreadable-file`, with every fault. */
function readMiddleware(value: unknown, path: string): readonly Middleware[] {
  if (value === undefined) return [];
  const list: readonly Middleware[] = Array.isArray(value) ? value : [value];
  const faults = list.flatMap((each, index) => {
    const checked = validate(middlewareSchema, each);
    return checked.ok ? [] : checked.faults.map(fault => fault.replace('$', `middleware[${index}]`));
  });
  if (faults.length === 0) return list;
  throw new ProtocolCliError('unreadable-file', `${path} exports an invalid middleware`, {
    faults,
    hint: 'export const middleware = { onRequest(invocation) { … }, onResponse(payload, invocation) { … } }, or a list of them.',
  });
}

/** @throws ProtocolCliError `unreadable-file`, with every fault. */
export function readDefinitions(value: unknown, path: string): readonly ToolDefinition[] {
  const definitions = Array.isArray(value) ? value : [value];
  const faults = definitions.flatMap((each, index) => {
    const checked = validate(definitionSchema, each);
    return checked.ok ? [] : checked.faults.map(fault => fault.replace('$', `default[${index}]`));
  });
  if (faults.length > 0 || definitions.length === 0)
    throw new ProtocolCliError('unreadable-file', `${path} does not export a tool by default`, {
      faults,
      hint: 'export default defineTool({ name, description, inputSchema, handle }), or a list of them.',
    });
  return definitions;
}

function unloadable(path: string, file: string, cause: unknown): ProtocolCliError {
  const reason = cause instanceof Error ? cause.message : String(cause);
  const said = existsSync(file) ? reason : 'file not found';
  return new ProtocolCliError('unreadable-file', `${path} cannot be loaded: ${said}`, {
    hint: hintOn(path, file, cause, reason),
    cause,
  });
}

function hintOn(path: string, file: string, cause: unknown, reason: string): string {
  const [, missing] = /^Cannot find package '([^']+)'/.exec(reason) ?? [];
  if (!existsSync(file)) return 'Give the path of an ES module that exports defineTool(…) by default.';
  if (missing !== undefined) return `Install it where ${path} is: npm install ${missing}`;
  if (cause instanceof SyntaxError) return `node --check ${path} shows the line. ${ES_MODULE}`;
  return `The module threw an error while loading. ${ES_MODULE}`;
}

const ES_MODULE = 'It must be an ES module (.mjs, or .js in a package of "type": "module").';

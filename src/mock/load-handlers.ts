import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import * as z from 'zod/mini';
import { toolSchema } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { ProtocolCliError } from '../util/errors.js';
import type { ToolDefinition } from './handlers.js';
import type { Middleware } from './middleware.js';

const functionSchema = z.custom<ToolDefinition['handle']>(
  value => typeof value === 'function',
  'must be a function',
);
const definitionSchema = z.looseObject({ ...toolSchema.shape, handle: functionSchema });
const middlewareSchema = z.looseObject({
  onRequest: z.optional(functionSchema),
  onResponse: z.optional(functionSchema),
});

/**
 * Loads the module that a person named with `--handlers`: tools by default, and middleware by the name `middleware`. The only place
 * where foreign code is run (threats, row 29).
 * @throws ProtocolCliError `unreadable-file` if it cannot be loaded, or an export is invalid.
 */
export async function loadHandlers(
  path: string,
  cwd: string,
): Promise<{ readonly handlers: readonly ToolDefinition[]; readonly middleware: readonly Middleware[] }> {
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
  return { handlers: handlers as ToolDefinition[], middleware: middleware as Middleware[] }; // by their schemas
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

import { isRecord, jsonPath, valueAt } from '../util/values.js';

/** A property of an `inputSchema` with `x-mcp-header`: its argument is also sent as an HTTP header (MCP 2026-07-28). */
export interface HeaderParameter {
  readonly path: readonly string[];
  /** `Mcp-Param-…` */
  readonly header: string;
  readonly type: 'string' | 'integer' | 'boolean';
}

type HeaderParameters =
  | { readonly ok: true; readonly parameters: readonly HeaderParameter[] }
  | { readonly ok: false; readonly fault: string };

const ANNOTATION = 'x-mcp-header';

/** A token of HTTP (RFC 9110). */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]{1,200}$/;

const TYPES = ['string', 'integer', 'boolean'] as const;

/** Levels of a schema that are searched. */
const MAX_DEPTH = 64;

/** Reads the annotations of an `inputSchema`. They are allowed only on properties that a chain of `properties` reaches. */
export function readHeaderParameters(inputSchema: unknown): HeaderParameters {
  const parameters: HeaderParameter[] = [];
  for (const { schema, path, isProperty } of annotatedSchemas(inputSchema, [], true)) {
    const { [ANNOTATION]: name, type: given } = schema;
    const faulty = (fault: string) =>
      ({ ok: false, fault: `${jsonPath(path)}: ${ANNOTATION} ${fault}` }) as const;
    if (!isProperty) return faulty('is allowed only on properties of the input');
    if (typeof name !== 'string' || !TOKEN.test(name))
      return faulty('must be a token of HTTP, such as Region');
    const type = TYPES.find(each => each === given);
    if (type === undefined) return faulty(`needs one of the types ${TYPES.join(', ')}`);
    const header = `Mcp-Param-${name}`;
    if (parameters.some(each => each.header.toLowerCase() === header.toLowerCase()))
      return faulty(`names ${name}, which another property has`);
    parameters.push({ path, header, type });
  }
  return { ok: true, parameters };
}

interface AnnotatedSchema {
  readonly schema: Readonly<Record<string, unknown>>;
  readonly path: readonly string[];
  readonly isProperty: boolean;
}

/** @param isReachable whether only `properties` lead to this part */
function* annotatedSchemas(
  part: unknown,
  path: readonly string[],
  isReachable: boolean,
  depth = 0,
): Generator<AnnotatedSchema> {
  if (typeof part !== 'object' || part === null || depth > MAX_DEPTH) return;
  if (isRecord(part) && Object.hasOwn(part, ANNOTATION))
    yield { schema: part, path, isProperty: isReachable && path.length > 0 };
  for (const [key, inner] of Object.entries(part)) {
    if (DATA.has(key)) continue;
    if (key !== 'properties' || !isRecord(inner)) yield* annotatedSchemas(inner, path, false, depth + 1);
    else
      for (const [name, property] of Object.entries(inner))
        yield* annotatedSchemas(property, [...path, name], isReachable, depth + 1);
  }
}

/** Keywords whose values are not schemas. */
const DATA: ReadonlySet<string> = new Set([ANNOTATION, 'default', 'enum', 'const', 'examples', 'required']);

/** The headers that mirror the annotated arguments of a call. A null or missing argument has none. */
export function mirroredHeaders(inputSchema: unknown, args: unknown): Record<string, string> {
  const read = readHeaderParameters(inputSchema);
  const parameters = read.ok ? read.parameters : [];
  return Object.fromEntries(
    parameters.flatMap(({ path, header }) => {
      const text = textOf(valueAt(args, ...path));
      return text === null ? [] : [[header, encoded(text)]];
    }),
  );
}

/** Returns why the headers of a call do not mirror its arguments; null if they do. @param headers names in lower case */
export function headerMismatch(
  inputSchema: unknown,
  args: unknown,
  headers: Readonly<Record<string, string | undefined>>,
): string | null {
  const read = readHeaderParameters(inputSchema);
  for (const { path, header, type } of read.ok ? read.parameters : []) {
    const value = valueAt(args, ...path);
    const text = textOf(value);
    if (text === null) continue;
    const sent = headers[header.toLowerCase()];
    if (sent === undefined) return `the header ${header} is missing`;
    const decoded = decodedValue(sent);
    if (decoded === null) return `the header ${header} is not valid base64`;
    const isEqual =
      type === 'integer' && DECIMAL.test(decoded) ? Number(decoded) === value : decoded === text;
    if (!isEqual) return `the header ${header} and the argument ${jsonPath(path)} differ`;
  }
  return null;
}

const DECIMAL = /^-?\d+(\.\d+)?$/;

/** The text of an argument; null without a header. */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return typeof value === 'number' &&
    (Number.isSafeInteger(value) || !Number.isInteger(value)) &&
    Number.isFinite(value)
    ? String(value)
    : null;
}

const [PREFIX, SUFFIX] = ['=?base64?', '?='];

/** A value that an HTTP header cannot carry unchanged is sent in base64. */
function encoded(text: string): string {
  const isPlain = /^[\x20-\x7e\t]*$/.test(text) && text.trim() === text && !isEncoded(text);
  return isPlain ? text : `${PREFIX}${Buffer.from(text, 'utf8').toString('base64')}${SUFFIX}`;
}

function isEncoded(text: string): boolean {
  return text.startsWith(PREFIX) && text.endsWith(SUFFIX);
}

/** Null if the value is not valid base64 or not UTF-8. */
function decodedValue(value: string): string | null {
  if (!isEncoded(value)) return value;
  const base64 = value.slice(PREFIX.length, -SUFFIX.length);
  const bytes = Buffer.from(base64, 'base64');
  const text = bytes.toString('utf8');
  const isExact = bytes.toString('base64') === base64 && Buffer.from(text, 'utf8').equals(bytes);
  return isExact ? text : null;
}

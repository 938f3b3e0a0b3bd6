import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';

const ROOT = new URL('../../', import.meta.url);

/** A JSON Schema that the package publishes. */
export interface PublishedSchema {
  /** Of the file, which vitest renews with `-u`. */
  readonly path: string;
  /** What is wrong with a value by the file as it is; empty where it fits. */
  faultsOf(value: unknown): string[];
  /** Where the package exports it. */
  readonly exportedAs: string;
}

export type Name =
  | 'fixtures'
  | 'report'
  | 'transcript'
  | 'session-report'
  | 'session'
  | 'cases'
  | 'check-report'
  | 'driver'
  | 'toolset'
  | 'invocation'
  | 'callbacks';

const known = new Map<Name, PublishedSchema>();

/** To compile one takes longer than all that is held against it. */
export function publishedSchema(name: Name): PublishedSchema {
  const schema = known.get(name) ?? readSchema(name);
  known.set(name, schema);
  return schema;
}

function readSchema(name: Name): PublishedSchema {
  const url = new URL(`fixtures/${name}.schema.json`, ROOT);
  const validate = new Ajv2020({
    allErrors: true,
    strict: name !== 'fixtures',
    allowUnionTypes: true,
    formats: { uri: url => URL.canParse(url) },
  }).compile(JSON.parse(readFileSync(url, 'utf8')));
  const { exports } = JSON.parse(readFileSync(new URL('package.json', ROOT), 'utf8'));
  return {
    path: fileURLToPath(url),
    faultsOf(value) {
      validate(value);
      return (validate.errors ?? []).map(({ instancePath, message }) => `${instancePath} ${message}`);
    },
    exportedAs: fileURLToPath(new URL(exports[`./${name}.schema.json`], ROOT)),
  };
}

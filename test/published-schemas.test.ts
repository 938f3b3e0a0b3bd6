import { Ajv2020 } from 'ajv/dist/2020.js';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { transcriptLineSchema } from '../src/events/transcript-reader.js';
import { caseFileSchema } from '../src/fixtures/check-files.js';
import { fileSchema } from '../src/fixtures/file-schema.js';
import { scriptFileSchema } from '../src/fixtures/session-script-schema.js';
import { callbackSchema } from '../src/protocol/callbacks.js';
import {
  abilitySchema,
  inabilitySchema,
  instructionSchema,
  observationSchema,
} from '../src/protocol/driver.js';
import { invocationSchema } from '../src/protocol/invocation.js';
import { toolsetSchema } from '../src/protocol/toolset.js';
import { repeatsSchema, reportSchema, sessionReportSchema } from '../src/render/outputs/schemas.js';
import { type Name, publishedSchema } from './support/published-schema.js';

const OUTPUT = { unrepresentable: 'any' } as const;
const INPUT = { io: 'input', unrepresentable: 'any' } as const;

type Generated = Exclude<Name, 'check-report'>; // written by hand: the program reads no report of a check

/** The schemas in `fixtures/`, made from those that the program uses. */
const SCHEMAS = {
  fixtures: {
    title: 'Fixtures of protocol-cli',
    description: 'What mock-tool serves: a toolset, and what it answers',
    ...z.toJSONSchema(fileSchema, INPUT),
  },
  session: {
    title: 'Session script of protocol-cli',
    description: 'What session mock plays: the agent of a session, its rounds of tool calls, and its answer',
    ...z.toJSONSchema(scriptFileSchema, INPUT),
  },
  cases: {
    title: 'Cases of protocol-cli',
    description: 'What check --cases calls of a tool, and what it expects of each result',
    ...z.toJSONSchema(caseFileSchema, INPUT),
  },
  report: {
    title: 'Report of protocol-cli invoke',
    description:
      'The output of invoke -o json: one object. After a failure it has all members known so far, and error. With --repeat it has all calls',
    ...z.toJSONSchema(z.union([reportSchema, repeatsSchema]), OUTPUT),
  },
  'session-report': {
    title: 'Report of protocol-cli session answer',
    description:
      'The output of session answer -o json: one object. After a failure it has all members known so far, and error',
    ...z.toJSONSchema(sessionReportSchema, OUTPUT),
  },
  transcript: {
    title: 'Line of a transcript of protocol-cli',
    description: 'What --save and -o ndjson write: one JSON object on each line',
    ...z.toJSONSchema(transcriptLineSchema, OUTPUT),
  },
  driver: driverSchema(),
  toolset: {
    title: 'Toolset of RAP',
    description: 'The answer of a tool server to GET {base}/.well-known/rap-toolset',
    ...messageSchema(toolsetSchema),
  },
  invocation: {
    title: 'Invocation of RAP',
    description: 'What a runtime POSTs to the endpoint of a toolset, to call an operation',
    ...messageSchema(invocationSchema),
  },
  callbacks: {
    title: 'Callback of RAP',
    description:
      'What a tool POSTs to the callback_url of an invocation; type says which of five messages it is',
    ...messageSchema(callbackSchema),
  },
} satisfies Record<Generated, object>;

/** For an optional member, null counts as absent: the reference sends it. */
function messageSchema(schema: z.ZodMiniType): object {
  return withNulls(z.toJSONSchema(schema, INPUT));
}

type JsonSchema = z.core.JSONSchema.JSONSchema;

function withNulls(schema: JsonSchema): JsonSchema {
  const { properties = {}, required = [], items, oneOf } = schema;
  const members = Object.entries(properties).map(([name, member]) => {
    const inner = withNulls(Object(member));
    return [name, required.includes(name) ? inner : orNull(inner)];
  });
  return {
    ...schema,
    ...(schema.properties && { properties: Object.fromEntries(members) }),
    ...(items && { items: withNulls(Object(items)) }),
    ...(oneOf && { oneOf: oneOf.map(each => withNulls(Object(each))) }),
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Object.keys(schema).length === 0 || new Ajv2020().validate(schema, null)) return schema;
  return { anyOf: [schema, { type: 'null' }] };
}

function driverSchema() {
  const ref = (name: string) => ({ $ref: `#/$defs/${name}` });
  const { $schema, ...instruction } = z.toJSONSchema(instructionSchema);
  const { $schema: _, ...observation } = z.toJSONSchema(
    z.union([observationSchema, inabilitySchema, abilitySchema]),
    {
      io: 'input', // unknown members are ignored
    },
  );
  return {
    $schema,
    title: 'Line of the driver protocol of protocol-cli check --runtime',
    description: 'One JSON object per line: instructions to a driver on stdin, its observations on stdout',
    anyOf: [ref('instruction'), ref('observation')],
    $defs: { instruction, observation },
  };
}

test.each(Object.keys(SCHEMAS) as Generated[])(
  'fixtures/%s.schema.json is up to date (update: vitest -u)',
  async name => {
    const { path } = publishedSchema(name);
    await expect(`${JSON.stringify(SCHEMAS[name], null, 2)}\n`).toMatchFileSnapshot(path);
  },
);

test.each([...Object.keys(SCHEMAS), 'check-report'] as Name[])(
  'fixtures/%s.schema.json is exported by the package',
  name => {
    const { path, exportedAs } = publishedSchema(name);
    expect(exportedAs).toBe(path);
  },
);

import { readFile } from 'node:fs/promises';

/** An OpenAPI document of the API of agent sessions, derived from the facts from which the tests of `session mock` are generated. */

const FACTS = new URL('../../fixtures/agent-sessions.json', import.meta.url);

const ref = type => ({ $ref: `#/components/schemas/${type}` });

/** @param ids the values of ids in paths, by their names: of a session that waits, and of a webhook */
export async function openApi(ids) {
  const facts = JSON.parse(await readFile(FACTS, 'utf8'), (key, value) =>
    key === '$ref' ? value.replace('#/types/', '#/components/schemas/') : value,
  );
  const refusals = responsesOf(facts.statuses);
  const paths = {};
  for (const operation of facts.paths) {
    const path = `/api/v2${operation.path}`;
    paths[path] ??= {};
    paths[path][operation.method.toLowerCase()] = operationOf(operation, ids, refusals);
  }
  return {
    openapi: '3.1.0',
    info: { title: 'Agent sessions', version: '1' },
    security: [{ key: [] }],
    paths,
    components: { schemas: facts.types, securitySchemes: { key: { type: 'http', scheme: 'bearer' } } },
  };
}

/** What is deleted has any id, so that the others stay. */
function operationOf(
  { method, path, body, examples = [], query = {}, headers = {}, answers },
  ids,
  refusals,
) {
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) =>
    parameter('path', name, pathSchema(name, method === 'DELETE' ? undefined : ids[name])),
  );
  const content = body && {
    'application/json': {
      schema: body.length === 1 ? ref(body[0]) : { anyOf: body.map(ref) },
      examples: Object.fromEntries(examples.map((value, index) => [`example${index}`, { value }])),
    },
  };
  return {
    parameters: [
      ...inPath,
      ...Object.entries(query).map(([name, schema]) => parameter('query', name, schema)),
      ...Object.entries(headers).map(([name, schema]) => parameter('header', name, schema)),
    ],
    ...(content && { requestBody: { required: true, content } }),
    responses: { ...refusals, ...responsesOf(answers) },
  };
}

function pathSchema(name, id) {
  if (name === 'event_index') return { type: 'integer' };
  return { type: 'string', format: 'uuid', ...(id && { enum: [id] }) };
}

function parameter(where, name, schema) {
  return { name, in: where, required: where === 'path', schema };
}

function responsesOf(types) {
  return Object.fromEntries(
    Object.entries(types).map(([status, type]) => [
      status,
      { description: status, ...(type && { content: { 'application/json': { schema: ref(type) } } }) },
    ]),
  );
}

/** Per value of TOOLSET: one more tool with a peculiar input schema. */
export const peculiarTools = {
  draft07: {
    draft07: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      definitions: { name: { type: 'string', minLength: 1 } },
      type: 'object',
      properties: { name: { $ref: '#/definitions/name' } },
      required: ['name'],
    },
  },
  evil_pattern: {
    evil: {
      type: 'object',
      properties: { s: { type: 'string', pattern: '^(a|a)*$' } },
      required: ['s'],
    },
  },
  remote_ref: {
    remote: {
      type: 'object',
      properties: { value: { $ref: 'http://127.0.0.1:9/x.json' } },
    },
  },
  hidden_draft: {
    hidden: {
      $schema: 'https://example.com/schemas/hidden-draft',
      type: 'object',
    },
  },
};

export const peculiarNames = Object.values(peculiarTools).flatMap(Object.keys);

/** The operations that every tool of this folder offers. */

const object = (properties, required = []) => ({
  type: 'object',
  properties,
  required,
  additionalProperties: false,
});

const TOOLS = [
  {
    name: 'echo',
    description: 'Returns the text.',
    inputSchema: object({ text: { type: 'string' } }, ['text']),
    annotations: { readOnly: true },
  },
  {
    name: 'preview_edit',
    description: 'Shows how a file would change. Changes nothing.',
    inputSchema: object({ path: { type: 'string', minLength: 1 }, line: { type: 'integer', minimum: 1 } }, [
      'path',
    ]),
    annotations: { readOnly: true },
  },
  {
    name: 'unavailable',
    description: 'Always fails, as an API that limits its rate.',
    inputSchema: object({}),
    annotations: { readOnly: true },
  },
];

export const toolset = (name, endpoint) => ({ name, endpoint, tools: TOOLS });

export function resultOf(invocation) {
  const { group_id, id, call_id } = invocation;
  return {
    type: 'tool_result',
    group_id,
    id,
    ...(call_id == null ? {} : { call_id }),
    ...answer(invocation),
  };
}

function answer({ operation, arguments: given }) {
  const tool = TOOLS.find(({ name }) => name === operation);
  if (!tool)
    return { text: `Error: unknown operation. Available: ${TOOLS.map(({ name }) => name).join(', ')}.` };
  const problem = problemIn(tool.inputSchema, given);
  if (problem) return { text: `Error: ${problem}. Correct the arguments and call again.` };
  if (operation === 'echo') return { text: given.text };
  if (operation === 'unavailable') return { text: 'Error: API rate limit exceeded. Retry after 60 seconds.' };
  return previewEdit(given);
}

function previewEdit({ path, line = 1 }) {
  const patch = `--- ${path}\n+++ ${path}\n@@ -${line} +${line} @@\n-old\n+new\n`;
  return {
    text: `Would replace line ${line} of ${path}`,
    display_as: [
      { type: 'diff', content: { path, patch } },
      { type: 'text', content: '1 line would change' },
    ],
  };
}

function problemIn({ properties, required }, given) {
  if (typeof given !== 'object' || given === null || Array.isArray(given))
    return 'arguments must be an object';
  const missing = required.find(name => !Object.hasOwn(given, name));
  if (missing) return `argument "${missing}" is missing`;
  for (const [name, value] of Object.entries(given)) {
    const rule = Object.hasOwn(properties, name) ? properties[name] : undefined;
    if (!rule) return 'an argument is not known';
    const isRight =
      rule.type === 'string'
        ? typeof value === 'string' && value.length >= (rule.minLength ?? 0)
        : Number.isInteger(value) && value >= 1;
    if (!isRight) return `argument "${name}" is invalid`;
  }
  return undefined;
}

export const HUNKS = 12;

/** Too long for any of the screens below, with a word to be found in its seventh hunk. */
export const PATCH = [
  '--- a/src/greet.rs',
  '+++ b/src/greet.rs',
  ...Array.from({ length: HUNKS }, (_, index) => {
    const line = 1 + 40 * index;
    const said = index === 6 ? 'the needle' : `hello ${index}`;
    const hunk = ` fn part_${index}() {`;
    return `@@ -${line},4 +${line},4 @@ mod m${index}\n${hunk}\n-    greet("${said}");\n+    welcome("${said}");\n     done();\n }`;
  }),
  '',
].join('\n');

/** Fixtures of a tool that takes its time, shows a long patch, and asks before it goes on. */
export const WORKSHOP = {
  version: 1,
  toolset: {
    name: 'workshop',
    tools: [
      {
        name: 'rename',
        description: 'Renames a function wherever it is called',
        inputSchema: {
          type: 'object',
          properties: { path: { type: 'string' }, depth: { type: 'integer', minimum: 1, maximum: 9 } },
          required: ['path', 'depth'],
        },
      },
      { name: 'publish', description: 'Asks where to', inputSchema: { type: 'object' } },
    ],
  },
  fixtures: [
    {
      match: { operation: 'rename' },
      reply: {
        delay: '2s',
        result: {
          text: 'Renamed greet in {{arguments.path}}, {{arguments.depth}} deep',
          display_as: [
            { type: 'diff', content: { path: 'src/greet.rs', patch: PATCH } },
            { type: 'text', content: `${HUNKS} places` },
          ],
        },
      },
    },
    {
      match: { operation: 'publish' },
      reply: {
        choice: { prompt: 'Publish where?', choices: ['staging', 'production'], default: 0 },
        within: '5m',
        // biome-ignore lint/suspicious/noThenProperty: so fixtures call it
        then: {
          staging: { payload: 'published on staging' },
          production: { payload: 'published on production' },
        },
      },
    },
  ],
};

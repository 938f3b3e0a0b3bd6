import type { Scenario } from '../scenario.js';
import type { Fixtures } from '../scenario-fixtures.js';

interface OperationFixture {
  readonly match: { readonly operation: string };
  readonly reply: object;
  readonly faults?: object;
}

/** What a tool does when an operation is called. A text is a result. */
export function on(operation: string, reply: string | object, faults?: object): OperationFixture {
  return {
    match: { operation },
    reply: typeof reply === 'string' ? { payload: reply } : reply,
    ...(faults && { faults }),
  };
}

/** A server without a toolset of its own: it offers the operations of its fixtures. */
export function serving(...fixtures: readonly object[]): Fixtures {
  return { fixtures };
}

/** Arguments by the names of their operations, with the type of each. */
type ArgumentTypes = Readonly<Record<string, Readonly<Record<string, string>>>>;

/** As {@link serving}, with a toolset that names the arguments: agents refuse those that no inputSchema names. */
export function offering(types: ArgumentTypes, ...fixtures: readonly OperationFixture[]): Fixtures {
  const tools = fixtures.map(({ match: { operation } }) => tool(operation, argumentSchema(types[operation])));
  return { toolset: { name: 'tools', tools }, fixtures };
}

export function argumentSchema(types: ArgumentTypes[string] = {}): object {
  const properties = Object.entries(types).map(([name, type]) => [name, { type }]);
  return { type: 'object', properties: Object.fromEntries(properties) };
}

export function tool(name: string, inputSchema: object = { type: 'object' }) {
  return { name, description: `The operation ${name}`, inputSchema };
}

/** Steps of a reply. */
export const result = (text: string, more: object = {}) => ({ result: { text, ...more } });
export const event = (text: string, more: object = {}) => ({ event: { text, ...more } });

/** The step comes when the scenario fires it. */
export const ON_DEMAND = { on: 'demand' };

/** An image of one pixel. */
export const IMAGE = {
  type: 'image',
  data: 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  mediaType: 'image/png',
};

/** A scenario that calls each operation once. @param results by operation */
export function callingEach(
  about: Omit<Scenario, 'servers' | 'run'>,
  results: Readonly<Record<string, object>>,
): Scenario {
  const fixtures = Object.entries(results).map(([operation, each]) => on(operation, { result: each }));
  return {
    ...about,
    servers: [{ middleware: { sanitize: false }, fixtures }],
    run: async session => {
      for (const operation of Object.keys(results)) await session.call(operation);
      await session.waitQuietly();
    },
  };
}

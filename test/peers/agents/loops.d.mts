/** What a tool returns to the agent. */
export interface Result {
  readonly text: string;
  readonly isError?: boolean;
}

interface Setting {
  /** The variables that the model sets for the agent. */
  readonly env: Readonly<Record<string, string>>;
  readonly isStreamed: boolean;
  /** Names of the tools, which take any arguments. */
  readonly tools: readonly string[];
  readonly runTool: (name: string, args: unknown) => Result;
}

/** The loop of an agent on each SDK: resolves to the last text, and to the tools that each message of the model calls. */
export const LOOPS: Readonly<
  Record<
    string,
    {
      readonly provider: 'anthropic' | 'openai';
      readonly run: (setting: Setting) => Promise<{ text: string; messages: string[][] }>;
    }
  >
>;

/** The names of the models that the SDK of a provider lists. */
export const modelsOf: Readonly<
  Record<'anthropic' | 'openai', (env: Setting['env']) => Promise<readonly string[]>>
>;

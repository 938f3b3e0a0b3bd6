/** What right agents do, by name, with the scenarios that it could disturb. */
export const LEGAL_AGENTS: Readonly<Record<string, { readonly disturbs: readonly string[] }>>;

export function runAgent(
  name: string,
  agent: { readonly env: Readonly<Record<string, string>>; readonly signal: AbortSignal },
): Promise<void>;

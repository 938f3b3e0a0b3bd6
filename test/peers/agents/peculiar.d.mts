interface Agent {
  readonly env: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
}

export function runPeculiar(habits: readonly string[], agent: Agent): Promise<void>;

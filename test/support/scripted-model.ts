import type { ClientRequest } from 'node:http';
import { type ProviderName, ScriptedModel } from '../../src/check/drive/scripted-llm.js';
import type { DriverLine } from '../../src/protocol/driver.js';

const UNABLE = [
  ...['answer', 'dismiss', 'cancel', 'migrate', 'end'],
  ...['human', 'question', 'consent', 'view', 'migrated'],
];

export const CANNOT = {
  anthropic: { cannot: UNABLE },
  openai: { cannot: [...UNABLE, 'failure'] },
};

/** What the tests read of a reply, of either provider. */
export interface Reply {
  readonly id: string;
  readonly content: readonly { readonly id?: string; readonly call_id?: string }[];
  readonly output: Reply['content'];
  readonly choices: readonly [{ readonly message: object }];
  readonly error: { readonly message: string };
}

/** A request that is expected to break off. */
export function broken(client: ClientRequest): Promise<void> {
  return new Promise(resolve => void client.on('error', () => {}).on('close', resolve));
}

/** A model and what it observed. */
export async function openModel(provider: ProviderName) {
  const lines: DriverLine[] = [];
  const warnings: string[] = [];
  const unserved: string[] = [];
  let requests = 0;
  const model = await ScriptedModel.start(provider, {
    onLine: line => void lines.push(line),
    onWarning: message => void warnings.push(message),
    onRequest: () => void requests++,
    onUnserved: message => void unserved.push(message),
    onServed: () => void unserved.push('served'),
  });
  const { origin } = new URL(Object.values(model.env).find(value => value.startsWith('http')) ?? '');
  const post = async (path: string, body: unknown) => {
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await fetch(origin + path, { method: 'POST', body: text });
    return { status: response.status, body: (await response.json()) as Reply };
  };
  return {
    model,
    origin,
    lines,
    warnings,
    unserved,
    requests: () => requests,
    post,
    [Symbol.asyncDispose]: () => model.close(),
  };
}

export function invoke(operation: string, id: string) {
  return { do: 'invoke', operation, arguments: {}, id } as const;
}

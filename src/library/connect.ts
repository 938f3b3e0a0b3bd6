import type { Exchange } from '../events/exchange.js';
import type { Toolset } from '../protocol/toolset.js';
import { type ConnectOptions, type InvokeSettings, connect as open } from '../runtime/connect.js';
import { withFullMessage } from './full-message.js';
import type { History } from './history.js';

/**
 * A discovered tool server, and a listener for its callbacks.
 * @example
 * const names = ({ toolset }: Connection) => toolset.tools.map(({ name }) => name);
 */
export interface Connection extends AsyncDisposable {
  readonly toolset: Toolset;
  readonly history: History;
  /**
   * Calls an operation. Resolves when the call is settled, successfully or not (see `outcomeOf` and `llmTextOf`), or when the tool
   * asks a question that is not answered (`exchange.waitingFor`).
   * @throws ProtocolCliError `unknown-operation` or `invalid-arguments` before anything is sent (RT-OP, RT-ARGS)
   */
  invoke(operation: string, args: Record<string, unknown>, settings?: InvokeSettings): Promise<Exchange>;
  /** Cancels pending calls and subscriptions, then closes the threads that this connection created. */
  close(): Promise<void>;
}

/**
 * Discovers the tools at a URL and listens for their callbacks; calls may run in parallel.
 * @param url the base URL of the server
 * @throws ProtocolCliError `unreachable`, `no-discovery`, `invalid-toolset` or `port-in-use`
 * @example
 * await using tool = await connect('http://127.0.0.1:3001');
 * const exchange = await tool.invoke('echo', { text: 'hi' });
 * console.log(outcomeOf(exchange)?.type, llmTextOf(exchange)); // success hi
 */
export async function connect(url: string, options?: ConnectOptions): Promise<Connection> {
  const connection = await withFullMessage(open(url, options));
  return { ...connection, invoke: (...call) => withFullMessage(connection.invoke(...call)) };
}

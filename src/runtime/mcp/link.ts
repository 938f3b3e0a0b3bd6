import type { Transport } from '@modelcontextprotocol/client';
import type { TransportError } from '../../http/transport-error.js';
import type { Sink } from '../../system/streams.js';

export type MessageListener = (message: unknown, way: 'sent' | 'received') => void;

/** An SDK transport that also reports a lost connection; the SDK would wait forever. */
export interface Link extends Transport {
  /** Rejects with a TransportError when the connection is lost. */
  readonly lost: Promise<never>;
  /** The last lines of a command's stderr. */
  readonly lastLines?: readonly string[];
  /** Invalid lines of a command's stdout: their number, and the beginning of the first. */
  readonly invalidLines?: { readonly count: number; readonly first: string };
}

/** An MCP server: a URL, or a command that starts it. */
export interface McpPeer {
  readonly kind: 'http' | 'stdio';
  /** The URL, or the command as given. */
  readonly name: string;
}

export interface McpTarget extends McpPeer {
  /** The program and its arguments, if they were given as a list. */
  readonly words?: readonly string[];
  /** Sent to the origin of the URL only; not used for a command. */
  readonly headers?: Readonly<Record<string, string>>;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface LinkOptions {
  readonly maxBytes: number;
  readonly onStderr?: Sink;
  readonly onMessage: MessageListener;
}

/** A promise that is rejected on demand and never reported as unhandled. */
export class ConnectionLoss {
  reject: (error: TransportError) => void = () => {};
  readonly promise = new Promise<never>((_, reject) => {
    this.reject = reject;
  });

  constructor() {
    this.promise.catch(() => {});
  }
}

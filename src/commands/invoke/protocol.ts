import type { Exchange } from '../../events/exchange.js';
import type { Warning } from '../../protocol/requirements.js';
import type { Trouble } from '../../render/outputs/trouble.js';
import type { Denial, ToolInfo } from '../consent.js';
import type { CallIdentity } from './plan.js';

/** How a tool is found and called: over RAP or over MCP. */
export interface CallProtocol {
  /** Finds the tool; reads and checks the arguments. @throws ProtocolCliError with the cause. */
  find(): Promise<FoundTool>;
  /** Returns why a call failed; null if it succeeded. */
  explain(exchange: Exchange): Trouble | null;
  /** Returns the warnings about the command itself that are known so far. */
  notes(): readonly Warning[];
}

/** A tool that was found, and the arguments for it. */
export interface FoundTool {
  readonly tool: ToolInfo;
  readonly args: Record<string, unknown>;
  preview(): Preview;
  /** Makes one call, or records that it is denied. */
  call(request: CallRequest): Promise<EndedCall>;
}

/** What `--dry-run` shows: the request as text and as data, and advice for people. */
export interface Preview {
  readonly text: string;
  readonly report: object;
  readonly advice?: string;
}

export interface CallRequest {
  readonly identity: CallIdentity;
  readonly denial: Denial | null;
  /** Whether the time limit pauses while the user decides. */
  readonly pausesForUser: boolean;
  /** Must be called as soon as the call has ended: later callbacks and notices may follow. */
  readonly report: (call: EndedCall) => Promise<void>;
}

export interface EndedCall {
  readonly exchange: Exchange;
  /** Why it failed. */
  readonly trouble: Trouble | null;
}

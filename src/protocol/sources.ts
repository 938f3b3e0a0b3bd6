import type { RequirementId } from './requirements.js';

/** A page of the protocol. */
export type Page = 'Tool Invocation' | 'Tool Result' | 'public specification';

/** Where a requirement is from. */
export interface Source {
  readonly page: Page;
  /** The page's own words, as they stand there. */
  readonly words?: string;
}

const invocation = (words: string): Source => ({ page: 'Tool Invocation', words });
const result = (words: string): Source => ({ page: 'Tool Result', words });
const elsewhere: Source = { page: 'public specification' };

const VALIDATION =
  'For any validation failure — malformed payload, unknown operation, invalid arguments — the tool SHOULD still return HTTP 200 to acknowledge receipt, then deliver the error asynchronously as a tool result with an error description.';

/** For each requirement the page that asks for it. What the pages on invocations and results do not say is from the rest of the specification. */
export const SOURCES: Readonly<Record<RequirementId, Source>> = {
  'TOOL-ACK': invocation('The tool MUST return HTTP 200 immediately to acknowledge receipt.'),
  'TOOL-ASYNC': invocation('MUST process the request asynchronously'),
  'TOOL-ALWAYS': result('Every invocation MUST eventually produce either a tool_result or an oauth message.'),
  'TOOL-POST': result(
    'The tool MUST send a tool result as an HTTP POST with Content-Type: application/json.',
  ),
  'TOOL-GROUP': invocation(
    'MUST be included in all callback messages to route them to the correct conversation.',
  ),
  'TOOL-ID': result('MUST match the id from the original invocation.'),
  'TOOL-CALLID': invocation('If provided, MUST be echoed in the tool result.'),
  'TOOL-ONCE': elsewhere,
  'TOOL-ISOLATE': elsewhere,
  'TOOL-OPAQUE': elsewhere,
  'TOOL-VALIDATE': invocation(
    'Upon receiving an invocation, the tool MUST validate that the operation field references a supported operation.',
  ),
  'TOOL-UNKNOWN-OP': invocation(VALIDATION),
  'TOOL-BAD-ARGS': invocation(VALIDATION),
  'TOOL-MALFORMED': invocation(VALIDATION),
  'TOOL-EXTRA': elsewhere,
  'TOOL-ERRPREFIX': result(
    'While the protocol does not mandate error formatting, tools SHOULD prefix error messages with "Error: " to help the LLM distinguish errors from successful results.',
  ),
  'TOOL-SECRET': result(
    'Tools MUST NOT include sensitive data (credentials, tokens, internal identifiers) in results unless the operation explicitly requires it.',
  ),
  'TOOL-NOLEAK': result(
    'Tools SHOULD avoid exposing internal implementation details or stack traces in error messages, as these provide no value to the LLM and may leak sensitive information.',
  ),
  'TOOL-RETRY': elsewhere,
  'TOOL-NORETRY': elsewhere,
  'TOOL-FALLBACK': result(
    'Tools SHOULD include a "text" segment as the last element to provide a universal fallback for runtimes that only support plain text display.',
  ),
  'TOOL-DIFF': result('A unified diff string (standard ---/+++/@@ format).'),
  'TOOL-IMAGE': elsewhere,
  'TOOL-SUB': elsewhere,
  'TOOL-CHOICE': elsewhere,
  'TOOL-OAUTH': elsewhere,
  'TOOL-CANCEL': elsewhere,
  'TOOL-CLOSE': elsewhere,
  'TOOL-DISCOVER': elsewhere,
  'TOOL-NAMES': elsewhere,
  'TOOL-MIGRATE': elsewhere,
  'TOOL-RATE': invocation('Tools SHOULD rate-limit invocations to prevent abuse'),
  'RT-OP': invocation(
    'Before dispatching an invocation, the runtime MUST verify that the operation field matches a known tool definition from a loaded toolset.',
  ),
  'RT-ARGS': invocation(
    "The runtime SHOULD validate the arguments object against the tool's inputSchema to catch malformed input before it reaches the tool.",
  ),
  'RT-ID': invocation(
    'The runtime MUST generate a unique id for the tool call (or use the one provided by the LLM)',
  ),
  'RT-FIELDS': invocation(
    'The runtime MUST send a tool invocation as an HTTP POST with Content-Type: application/json.',
  ),
  'RT-NON200': invocation(
    'Any other non-200 status indicates the tool could not accept the invocation, and the runtime SHOULD record the failure as a tool result with an error description, allowing the LLM to reason about it.',
  ),
  'RT-RETRY': elsewhere,
  'RT-NORETRY': elsewhere,
  'RT-VALIDATE': elsewhere,
  'RT-MATCH': result('It MUST NOT inject unmatched results into any conversation.'),
  'RT-SANITIZE': result(
    'Runtimes SHOULD also validate the text content before passing it to the LLM — while the LLM is generally resilient to unexpected input, sanitization reduces the risk of prompt injection through tool results.',
  ),
  'RT-DUP': result(
    'Runtimes SHOULD implement idempotent result processing to handle duplicate deliveries gracefully, since network retries may cause the same result to arrive more than once.',
  ),
  'RT-TEXT': result(
    "When display_as is present, the runtime MUST still pass the full text value to the LLM as the tool's response.",
  ),
  'RT-DISPLAY': result(
    'Runtimes SHOULD iterate the display_as array and render the first segment whose type they support.',
  ),
  'RT-PENDING': elsewhere,
  'RT-OAUTH': elsewhere,
  'RT-CHOICE': elsewhere,
  'RT-SUB': elsewhere,
  'RT-VIEW': elsewhere,
  'RT-SERIAL': elsewhere,
  'RT-NOTIFY': elsewhere,
  'RT-TOOLSET': elsewhere,
  'RT-AUDIT': invocation(
    'Runtimes SHOULD log tool invocations for audit purposes, including the operation name, timestamp, and outcome.',
  ),
  'RT-TIMEOUT': invocation('the protocol defines no timeout'),
};

import type { Fact } from '../../exchange/events.js';
import { textOfOutcome } from '../../outcome/conventions.js';
import type { SpokenReply } from './local-call.js';

/** An answer as its wire has it. */
export interface Written {
  /** JSON. */
  readonly body: unknown;
  /** What a person should know of it. */
  readonly warnings: readonly string[];
}

/** How the calls of a local tool came, for those who are told; and how their answers are written there. */
export interface Wire {
  readonly dialect?: Extract<Fact, { kind: 'request' }>['dialect'];
  readonly url: string;
  readonly callMethod: string;
  readonly cancelMethod: string;
  /** Nobody wants the answer of a call that was called off. */
  readonly dropsCancelled: boolean;
  /** @param isOffered whether there is such an operation at all */
  write(reply: SpokenReply, isOffered: () => boolean): Written;
}

/** Without a wire: in the words that would have gone over RAP. */
export const NO_WIRE: Wire = {
  url: 'local:',
  callMethod: 'CALL',
  cancelMethod: 'CANCEL',
  dropsCancelled: false,
  write: reply => ({ body: { type: 'tool_result', ...fieldsOf(reply) }, warnings: [] }),
};

function fieldsOf(reply: SpokenReply): object {
  switch (reply.kind) {
    case 'payload':
      return { text: reply.text };
    case 'outcome':
      return { text: textOfOutcome(reply.outcome) ?? '' };
    case 'verbatim':
      return reply.result;
  }
}

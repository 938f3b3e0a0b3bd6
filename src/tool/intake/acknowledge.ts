import type { Answer, Reply } from '../../transport/server.js';
import type { Plan } from '../answers/plan.js';
import type { RapConversation } from '../conversation/rap-conversation.js';
import type { ServedRequest } from './served-request.js';

export interface Acceptance {
  readonly plan: Plan;
  readonly request: ServedRequest;
  readonly conversation: RapConversation;
  /** Begins the work; resolves at its end. */
  readonly begin: () => Promise<void>;
  /** Resolves when the tool stops. */
  readonly stopped: Promise<void>;
}

/** 200 at once, then the work (TOOL-ACK); or what else the plan's faults make of it. */
export function acknowledge(acceptance: Acceptance): Reply | Promise<Reply> {
  const { plan, request, begin } = acceptance;
  if (plan.ack || plan.faultsOf(0).length > 0) return acknowledgeOddly(acceptance);
  return request.answer(200, afterwards(begin));
}

async function acknowledgeOddly({ plan, request, conversation, begin, stopped }: Acceptance): Promise<Reply> {
  if (plan.faultsOf(0).some(({ kind }) => kind === 'before-ack')) {
    await Promise.race([begin(), conversation.begun()]);
    return request.answer(200);
  }
  switch (plan.ack?.kind) {
    case 'hang':
      void begin();
      await stopped;
      return reset(request);
    case 'reset':
      void begin();
      return reset(request);
    case 'delay':
      await conversation.pause(plan.ack.ms);
      break;
    default:
  }
  return request.answer(200, afterwards(begin));
}

/** The work waits for the other acknowledgements of its turn. */
function afterwards(begin: () => void): Pick<Answer, 'sent'> {
  return { sent: () => setImmediate(begin) };
}

function reset(request: ServedRequest): Reply {
  request.broken('PLANNED');
  return 'reset';
}

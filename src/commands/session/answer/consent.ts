import { ProtocolCliError } from '../../../errors.js';
import type { Governed } from '../../../runtime/policy.js';
import { type Consent, type Denial, denialOf } from '../../invoke/consent.js';
import type { Stage } from '../../invoke/locate.js';

/** Whether a call may be made; null where it may. */
export type Governing = (tool: Governed, args: unknown) => Promise<Denial | null>;

/**
 * The policy, then the person at the terminal, as for `invoke`; calls come side by side, and a person is asked one thing after the
 * other. Where nobody is there to ask, it is no.
 */
export function governing(consent: Consent, stage: Pick<Stage, 'terminal' | 'signal' | 'aside'>): Governing {
  let before: Promise<unknown> = Promise.resolve();
  const oneByOne: Stage['aside'] = work => {
    const done = before.then(() => stage.aside(work));
    before = done.catch(() => {});
    return done;
  };
  return (tool, args) => denialOf(tool, args, consent, { ...stage, aside: oneByOne }).catch(denialOfNobody);
}

function denialOfNobody(error: unknown): Denial {
  if (!(error instanceof ProtocolCliError) || error.code !== 'decision-needed') throw error;
  return { by: 'policy', reason: 'it is marked destructive, and nobody is there to ask' };
}

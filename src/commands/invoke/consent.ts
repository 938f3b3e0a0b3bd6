import { ProtocolCliError } from '../../errors.js';
import { type Governed, type Policy, rulingOn } from '../../runtime/policy.js';
import { visibleLine } from '../../text/visible.js';
import { ask, isSomebodyThere } from '../ask.js';
import type { Terminal } from '../terminal.js';
import type { Stage } from './locate.js';

/** The policy in a file, or in standard input, see {@link readPolicy}: few have one, so what reads it is loaded only then. */
export async function loadPolicy(file: string, { stdin }: Pick<Terminal, 'stdin'>): Promise<Policy> {
  const { readPolicy } = await import('./read-policy.js');
  return readPolicy(file, stdin);
}

/** Why a call is not made. */
export interface Denial {
  readonly by: 'person' | 'policy';
  readonly reason: string;
}

/** What allows a call before anybody is asked. */
export interface Consent {
  readonly policy: Policy | null;
  /** `--yes`. */
  readonly yes: boolean;
}

/**
 * Whether a call may be made: the policy first, then, of a tool that says of itself that it destroys something, the person at the
 * terminal. Null where it may.
 * @throws ProtocolCliError `decision-needed` where nobody is there to ask.
 */
export async function denialOf(
  tool: Governed,
  args: unknown,
  { policy, yes }: Consent,
  stage: Pick<Stage, 'terminal' | 'signal' | 'aside'>,
): Promise<Denial | null> {
  const ruling = rulingOn(policy, tool);
  if (!ruling.allowed) return { by: 'policy', reason: ruling.reason };
  if (tool.annotations?.destructive !== true || yes || ruling.isNamed) return null;
  return stage.aside(() => askPerson(tool, args, stage));
}

async function askPerson(
  tool: Governed,
  args: unknown,
  { terminal, signal }: Pick<Stage, 'terminal' | 'signal'>,
): Promise<Denial | null> {
  const call = `${tool.name}(${visibleLine(JSON.stringify(args))})`;
  if (!isSomebodyThere(terminal))
    throw new ProtocolCliError(
      'decision-needed',
      `${call} is marked destructive and nobody is there to ask`,
      {
        hint: 'Add --yes to call it without a question, or a --policy that allows it by name.',
      },
    );
  const answer = (await ask(`${call} is marked destructive. Call it? [y/N] `, terminal, signal)) ?? 'no';
  return /^y(es)?$/i.test(answer.trim()) ? null : { by: 'person', reason: 'the user said no' };
}

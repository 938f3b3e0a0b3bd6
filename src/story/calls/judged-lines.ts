import type { Book } from '../../exchange/book.js';
import type { Event } from '../../exchange/events.js';
import type { Exchange } from '../../exchange/exchange.js';
import { History } from '../../exchange/history.js';
import { toldOnce } from '../../exchange/hop.js';
import type { RequirementId, Warning } from '../../protocol/requirements.js';
import { checkTranscript } from '../../rules/check-transcript.js';
import type { Conformance } from '../../rules/conformance.js';
import type { Check } from '../../rules/judge.js';
import { cleanWords, type Redactor } from '../../text/redact.js';
import { type Failure, failureOf } from '../failure.js';
import type { Line } from '../line.js';
import { problemLines } from '../saved/problem-lines.js';
import { counted, warningsOf, withoutFollow } from '../warnings.js';
import { judgedRun, runLines } from './run-lines.js';

/** What is asked of files alone: a live session has the `auth_url` whole, or nobody could visit it. */
const OF_FILES: ReadonlySet<RequirementId> = new Set(['RT-OAUTH']);
const NOTHING: ReadonlySet<RequirementId> = new Set();

/** What a call came to: in lines, and how many requirements were broken, how many of those a MUST. */
export interface Judgement {
  readonly lines: readonly Line[];
  readonly broken: number;
  readonly musts: number;
}

/**
 * What is wrong with a call, by the requirements of the protocol on both sides: why there is no result, then the failures, each with
 * its proof, then all the rest. Secrets out.
 * @param events that concern it
 * @param witness who saw them, and whether they are from a file
 * @param isUnvalidated a person had it sent as it is: what that breaks is no fault of the runtime's, which is this program
 */
export async function judgedLines(
  events: readonly Event[],
  exchange: Exchange,
  redactor: Redactor,
  { observer, isSaved }: Pick<Book, 'observer' | 'isSaved'>,
  isUnvalidated = false,
): Promise<Judgement> {
  const judged = await checkTranscript(events, { observer, skip: isSaved ? NOTHING : OF_FILES });
  const { checks, wishes } = isUnvalidated ? withWishes(judged.checks) : { ...judged, wishes: [] };
  const run = judgedRun(checks, ['tool', 'runtime'], redactor);
  const history = new History();
  for (const event of toldOnce(events)) history.apply(event);
  const warnings = [...wishes, ...besides(run, warningsOf(history, exchange))].map(message =>
    cleanWords(redactor, message),
  );
  const failure = exchange.settled ? failureOf(exchange, history.errands, 'workbench') : null;
  const around = { record: { events, redactor }, warnings };
  const broken = run.checks.filter(({ status }) => status === 'fail');
  return {
    lines: [...failureLines(failure, redactor), ...runLines(run, around, failure === null)],
    broken: broken.length,
    musts: broken.filter(({ level }) => level === 'MUST').length,
  };
}

/** What a person wanted is a remark, and nothing to mend. */
function withWishes(checks: readonly Check[]): {
  readonly checks: readonly Check[];
  readonly wishes: readonly string[];
} {
  const isWish = ({ id, status }: Check) => id === 'RT-ARGS' && (status === 'fail' || status === 'warn');
  return {
    checks: checks.filter(check => !isWish(check)),
    wishes: checks.filter(isWish).map(({ id, reason }) => `${reason}; sent unvalidated, on purpose (${id})`),
  };
}

function failureLines(failure: Failure | null, redactor: Redactor): Line[] {
  if (!failure) return [];
  const { message, hint } = failure;
  const clean = {
    message: cleanWords(redactor, message),
    ...(hint !== undefined && { hint: cleanWords(redactor, hint) }),
  };
  return [...problemLines([], clean, 'NO RESULT'), []];
}

/** What a row tells of a requirement need not be said twice. */
function besides({ checks }: Conformance, warnings: readonly Warning[]): string[] {
  const told = new Set(
    checks.flatMap(({ id, status }) => (status === 'fail' || status === 'warn' ? [id] : [])),
  );
  return counted(warnings)
    .filter(({ id }) => id === undefined || !told.has(id))
    .map(warning => withoutFollow(warning).message);
}

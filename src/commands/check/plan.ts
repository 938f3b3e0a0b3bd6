import { stat } from 'node:fs/promises';
import type { Selection } from '../../check/judge.js';
import { REQUIREMENTS } from '../../check/rules/all.js';
import type { RequirementId, Side } from '../../protocol/requirements.js';
import { ProtocolCliError } from '../../util/errors.js';
import { usage } from '../options.js';
import { readText } from '../read-source.js';
import { type CheckRequest, checkReports, reportsOf } from '../reports.js';
import {
  asUrl,
  type HeaderOptions,
  type ListenerFlags,
  readTarget,
  type ServerTarget,
  type TargetOptions,
} from '../target.js';
import type { Terminal } from '../terminal.js';

/** The options of `check`, as commander hands them over. */
export interface CheckFlags
  extends Omit<TargetOptions, 'endpoint'>,
    HeaderOptions,
    Omit<ListenerFlags, 'maxBody'> {
  readonly side?: Side;
  readonly list?: boolean;
  readonly spec?: readonly RequirementId[];
  readonly only?: readonly RequirementId[];
  readonly skip?: readonly RequirementId[];
  readonly operation?: readonly string[];
  /** A file. */
  readonly cases?: string;
  /** Milliseconds. */
  readonly probeTimeout: number;
  readonly strict?: boolean;
  /** A file. */
  readonly expectedFailures?: string;
  readonly reporter?: readonly CheckRequest[];
  readonly save?: string;
  readonly watch?: boolean;
  readonly quiet?: boolean;
  readonly verbose?: boolean;
  readonly color: boolean;
  /** Options that were set on the command line, defaults excluded: `--save`. */
  readonly given: readonly string[];
}

/** What is checked: a tool that we call, or a saved transcript. */
type Subject =
  | { readonly kind: 'tool'; readonly target: ServerTarget }
  | { readonly kind: 'transcript'; readonly file: string };

export type CheckPlan = Awaited<ReturnType<typeof planCheck>>;

/**
 * Reports errors in the command line, and in the files that it names, before anything is sent.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`.
 */
export async function planCheck(
  word: string | undefined,
  flags: CheckFlags,
  { stdin }: Pick<Terminal, 'stdin'>,
) {
  const subject = await subjectOf(word, flags);
  refuseIdle(subject, flags);
  // Of a tool that we call, we are the runtime ourselves.
  const sides: readonly Side[] =
    subject.kind === 'tool' ? ['tool'] : flags.side === undefined ? ['tool', 'runtime'] : [flags.side];
  const selection = selectionOf(flags, sides);
  const reports = reportsOf(flags.reporter);
  await checkReports(reports, '--reporter');
  const plan = { flags, subject, sides, selection, reports };
  const { cases, expectedFailures: failures } = flags;
  if (cases === undefined && failures === undefined) return { ...plan, cases: [], excuses: [] };
  const { readCases, readExpectedFailures } = await import('../../fixtures/check-files.js');
  const source = async (path: string) => ({ path, text: await readText(path, stdin) });
  return {
    ...plan,
    cases: cases === undefined ? [] : await readCases(await source(cases)),
    excuses: failures === undefined ? [] : await readExpectedFailures(await source(failures)),
  };
}

/** Transcripts are called like this; without a file of that name the word would be taken for a host. */
const FILE_NAME = /\.(?:nd)?jsonl?$/i;

const SUBJECTS =
  'Give the base URL of a tool server (protocol-cli check http://127.0.0.1:3001), a transcript (protocol-cli check run.ndjson), --command, or --demo.';

/** A file comes before a host of the same name. */
async function subjectOf(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  if (flags.demo || flags.command !== undefined) {
    const { target } = readTarget(word === undefined ? [] : [word], flags);
    if (word === undefined && target && target.kind !== 'endpoint') return { kind: 'tool', target };
    throw usage(`unexpected argument "${word}"`, '--demo and --command take no URL and no file.');
  }
  if (word === undefined || word === '') throw usage('nothing to check given', SUBJECTS);
  const isThere = () => stat(word).catch(() => null);
  if (word === '-' || (!word.includes('://') && (await isThere()))) return { kind: 'transcript', file: word };
  const url = FILE_NAME.test(word) ? null : asUrl(word);
  if (url) return { kind: 'tool', target: { kind: 'url', url } };
  throw new ProtocolCliError('unreadable-file', `${word} is not a file and not a URL`, { hint: SUBJECTS });
}

const CALLING = ['--operation', '--probe-timeout', '--save', '--header', '--bearer', '--verbose', '--watch'];

const LISTENING = ['--callback-host', '--callback-port', '--callback-url', '--allow-host'];

/** Options without a use for this kind of subject, and what they are for. */
const IDLE: Readonly<Record<Subject['kind'], { options: readonly string[]; use: string }>> = {
  tool: { options: ['--side'], use: 'a transcript: of a tool that is called here, the tool alone is judged' },
  transcript: {
    options: [...CALLING, ...LISTENING],
    use: 'a tool that is called, and this is a transcript',
  },
};

function refuseIdle({ kind }: Subject, { given }: CheckFlags): void {
  const { options, use } = IDLE[kind];
  const idle = options.find(option => given.includes(option));
  if (idle !== undefined) throw usage(`${idle} is for ${use}`, 'See protocol-cli check --help.');
}

/** @throws ProtocolCliError `usage` for a rule that is not judged here. */
function selectionOf({ only, skip }: CheckFlags, sides: readonly Side[]): Selection {
  const stray = only?.find(id => !sides.includes(REQUIREMENTS[id].side));
  if (stray !== undefined)
    throw usage(
      `--only ${stray}: this check covers the ${sides[0]} only`,
      `Rules of the ${REQUIREMENTS[stray].side} need a transcript: protocol-cli check run.ndjson --only ${stray}.`,
    );
  return { ...(only && { only: new Set(only) }), ...(skip && { skip: new Set(skip) }) };
}

import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import type { ProviderName } from '../../check/drive/scripted-llm.js';
import { RULES } from '../../check/rules/index.js';
import type { Case, ExpectedFailure } from '../../fixtures/check-files.js';
import type { RequirementId, Side } from '../../protocol/requirements.js';
import { ProtocolCliError } from '../../util/errors.js';
import type { HeaderOptions } from '../headers.js';
import { usageError } from '../options.js';
import { readText } from '../read-source.js';
import type { ReportRequest } from '../reporter-option.js';
import { checkReports } from '../reports.js';
import {
  asUrl,
  isFileName,
  isProgramName,
  type ListenerFlags,
  readTarget,
  type ServerTarget,
  type TargetOptions,
} from '../target.js';
import type { Terminal } from '../terminal.js';

export interface CheckFlags
  extends Omit<TargetOptions, 'endpoint'>,
    HeaderOptions,
    Omit<ListenerFlags, 'maxBody'> {
  /** The command of the driver; true if `--runtime` was given without one. */
  readonly runtime?: string | true;
  readonly scenario?: readonly string[];
  readonly model?: ProviderName;
  /** The file of the runtime's own log. */
  readonly log?: string;
  /** Milliseconds. */
  readonly probeTimeout: number;
  /** A file; with `--runtime`, a folder. */
  readonly save?: string;
  readonly verbose?: boolean;
  readonly side?: Side;
  readonly list?: boolean;
  readonly spec?: readonly RequirementId[];
  readonly only?: readonly RequirementId[];
  readonly skip?: readonly RequirementId[];
  readonly operation?: readonly string[];
  /** If false, an operation that is marked destructive is refused, even if it is selected. */
  readonly destructive?: boolean;
  /** Path of a file. */
  readonly cases?: string;
  readonly strict?: boolean;
  /** Path of a file. */
  readonly expectedFailures?: string;
  /** The file of expected failures is changed: `update` adds and removes, `prune` removes. */
  readonly update?: boolean;
  readonly prune?: boolean;
  readonly reporter?: readonly ReportRequest[];
  readonly watch?: boolean;
  readonly quiet?: boolean;
  readonly color: boolean;
  /** Options set on the command line, without defaults: `--save`. */
  readonly given: readonly string[];
}

/** What is checked: a tool to call, a saved transcript, or a runtime to drive. */
type Subject =
  | { readonly kind: 'tool'; readonly target: ServerTarget }
  | { readonly kind: 'transcript'; readonly file: string }
  | { readonly kind: 'runtime'; readonly command: string };

export interface CheckPlan {
  readonly flags: CheckFlags;
  readonly subject: Subject;
  readonly sides: readonly Side[];
  readonly selection: RuleSelection;
  readonly reports: readonly ReportRequest[];
  readonly cases: readonly Case[];
  readonly expectedFailures: readonly ExpectedFailure[];
}

/** The rules of `--only` and `--skip`. */
interface RuleSelection {
  readonly only?: ReadonlySet<RequirementId>;
  readonly skip?: ReadonlySet<RequirementId>;
}

/**
 * Validates the command line and the files it names before anything is sent.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`.
 */
export async function planCheck(
  word: string | undefined,
  flags: CheckFlags,
  { stdin, env }: Pick<Terminal, 'stdin' | 'env'>,
): Promise<CheckPlan> {
  refuseDriving(flags);
  const subject = flags.runtime === undefined ? await subjectOf(word, flags) : runtimeOf(word, flags);
  refuseIdle(subject.kind, flags);
  refuseNothingToChange(flags);
  const sides: readonly Side[] =
    subject.kind === 'transcript' ? (flags.side ? [flags.side] : ['tool', 'runtime']) : [subject.kind];
  const selection = selectionOf(flags, sides);
  const requested = flags.reporter ?? [];
  const takesStdout = requested.some(({ file }) => file === null);
  const reports: readonly ReportRequest[] = takesStdout
    ? requested
    : [{ format: 'human', file: null }, ...requested];
  await checkReports(reports);
  const { cases, expectedFailures } = flags;
  const files = () => import('../../fixtures/check-files.js');
  const source = async (path: string) => ({ path, text: await readText(path, stdin) });
  return {
    flags,
    subject,
    sides,
    selection,
    reports,
    cases:
      cases === undefined
        ? []
        : await (await files()).readCases(await source(cases), subject.kind === 'tool' ? env : null),
    expectedFailures:
      expectedFailures === undefined || isNewFile(flags)
        ? []
        : await (await files()).readExpectedFailures(await source(expectedFailures)),
  };
}

const SUBJECTS =
  'Give the base URL of a tool server (protocol-cli check http://127.0.0.1:3001), a transcript (protocol-cli check run.ndjson), --command, --demo, or the driver of a runtime (--runtime).';

/** Whether it is meant as a transcript. A file takes precedence over a host of the same name. */
async function isTranscript(word: string): Promise<boolean> {
  if (word === '-') return true;
  if (word.includes('://') || isProgramName(word)) return false;
  return isFileName(word) || (await stat(word).catch(() => null)) !== null;
}

async function subjectOf(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  if (flags.demo || flags.command !== undefined) {
    const { target, rest } = readTarget(word === undefined ? [] : [word], flags);
    if (rest.length === 0 && target && target.kind !== 'endpoint') return { kind: 'tool', target };
    throw usageError(
      `unexpected argument "${word}"`,
      '--demo takes no URL and no file, and --command only the URL of its server.',
    );
  }
  if (word === undefined || word === '') throw usageError('nothing to check given', SUBJECTS);
  if (await isTranscript(word)) return { kind: 'transcript', file: word };
  const url = asUrl(word); // refuses the name of a program
  if (url) return { kind: 'tool', target: { kind: 'url', url } };
  if (/[./\\]/.test(word)) return { kind: 'transcript', file: word }; // reading it reports that it is missing
  throw new ProtocolCliError('unreadable-file', `${word} is not a file and not a URL`, { hint: SUBJECTS });
}

/** @throws ProtocolCliError `usage` */
function runtimeOf(word: string | undefined, { runtime, ...flags }: CheckFlags): Subject {
  if (word !== undefined || flags.demo || flags.command !== undefined)
    throw usageError('--runtime takes no URL, no file, no --demo and no --command', RUNTIME_EXAMPLE);
  if (runtime === undefined || runtime === true || runtime.trim() === '')
    throw usageError('--runtime needs the command of a driver', RUNTIME_EXAMPLE);
  return { kind: 'runtime', command: runtime };
}

const RUNTIME_EXAMPLE =
  'For example: protocol-cli check --runtime "node driver.mjs"; protocol-cli help runtimes says how to write a driver.';

/** Options that have an effect only if a tool is called. */
const CALLING =
  '--operation --header --bearer --callback-host --callback-port --callback-url --allow-host'.split(' ');

/** Options that have an effect only if a tool or a runtime runs. */
const RUNNING = '--ready-timeout --probe-timeout --save --verbose --watch'.split(' ');

/** Options that have an effect only if a runtime is driven. */
const DRIVING = ['--scenario', '--model', '--log'];

const IDLE: Readonly<Record<Subject['kind'], readonly [options: readonly string[], why: string]>> = {
  tool: [['--side'], 'needs a transcript; of a running tool, only the tool is checked'],
  runtime: [['--side', '--cases', ...CALLING], 'cannot be combined with --runtime'],
  transcript: [[...CALLING, ...RUNNING], 'needs a running tool or runtime, not a transcript'],
};

const SEE_HELP = 'See protocol-cli check --help.';

/** Needs no subject: `check --model openai` is about the option first. @throws ProtocolCliError `usage` */
function refuseDriving({ given, runtime }: CheckFlags): void {
  const idle = DRIVING.find(option => given.includes(option));
  if (idle !== undefined && runtime === undefined)
    throw usageError(`${idle} needs a runtime (--runtime)`, SEE_HELP);
}

/** Options that need another subject. @throws ProtocolCliError `usage` */
function refuseIdle(kind: Subject['kind'], { given }: CheckFlags): void {
  const [options, why] = IDLE[kind];
  const idle = options.find(option => given.includes(option));
  if (idle !== undefined) throw usageError(`${idle} ${why}`, SEE_HELP);
}

/** @throws ProtocolCliError `usage` for `--update` and `--prune` without a file that can be written. */
function refuseNothingToChange({ expectedFailures, update, prune }: CheckFlags): void {
  if ((update || prune) && (expectedFailures === undefined || expectedFailures === '-'))
    throw usageError(`${update ? '--update' : '--prune'} needs --expected-failures <file>`);
}

/** Whether `--update` creates the file of expected failures. */
export function isNewFile({ expectedFailures, update }: CheckFlags): boolean {
  return update === true && expectedFailures !== undefined && !existsSync(expectedFailures);
}

/** @throws ProtocolCliError `usage` for a rule that is not judged in this check. */
function selectionOf({ only, skip }: CheckFlags, sides: readonly Side[]): RuleSelection {
  const unsupported = only?.find(id => !sides.includes(RULES[id].side));
  if (unsupported !== undefined)
    throw usageError(
      `--only ${unsupported}: this check covers the ${sides[0]} only`,
      `Rules of the ${RULES[unsupported].side} need a transcript: protocol-cli check run.ndjson --only ${unsupported}.`,
    );
  return { ...(only && { only: new Set(only) }), ...(skip && { skip: new Set(skip) }) };
}

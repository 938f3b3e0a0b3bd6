import { stat } from 'node:fs/promises';
import type { Selection } from '../../check/report.js';
import type { Case } from '../../fixtures/cases.js';
import type { ExpectedFailure } from '../../fixtures/expected-failures.js';
import { REQUIREMENTS, type RequirementId, type Side } from '../../protocol/requirements.js';
import { ProtocolCliError } from '../../util/errors.js';
import { decodeUtf8 } from '../../util/json.js';
import { readSource } from '../read-source.js';
import {
  checkReportFolders,
  type ReporterOptionReportRequest as ReportRequest,
  reportsOf,
} from '../reports.js';
import { asUrl, type HeaderOptions, readTarget, type ServerTarget, type TargetOptions } from '../target.js';
import type { Terminal } from '../terminal.js';

/** Files that are larger were hardly written by hand. */
const MOST = 16 * 1024 * 1024;

type Stdin = AsyncIterable<Uint8Array>;

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
async function readCaseFile(file: string, stdin: Stdin): Promise<readonly Case[]> {
  const { readCases } = await import('../../fixtures/cases.js');
  return readCases({ path: file, text: await textOf(file, stdin) });
}

/** @throws ProtocolCliError `unreadable-file`, `invalid-fixtures`. */
async function readFailureFile(file: string, stdin: Stdin): Promise<readonly ExpectedFailure[]> {
  const { readExpectedFailures } = await import('../../fixtures/expected-failures.js');
  return readExpectedFailures({ path: file, text: await textOf(file, stdin) });
}

async function textOf(file: string, stdin: Stdin): Promise<string> {
  const text = decodeUtf8(await readSource(file, stdin, MOST));
  if (text !== null) return text;
  throw new ProtocolCliError('unreadable-file', `cannot read ${file}: it is not UTF-8`, {
    hint: 'Write it as YAML or JSON.',
  });
}

/** The options of `check`, as commander hands them over. */
export interface CheckFlags extends Omit<TargetOptions, 'endpoint'>, HeaderOptions {
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
  readonly reporter?: readonly ReportRequest[];
  readonly save?: string;
  readonly callbackHost: string;
  readonly callbackPort: number;
  readonly callbackUrl?: string;
  readonly allowHost?: readonly string[];
  readonly quiet?: boolean;
  readonly color: boolean;
  /** Options that were set on the command line, defaults excluded: `--save`. */
  readonly given: readonly string[];
}

/** What is checked: a tool that we call, or a saved transcript. */
export type Subject =
  | { readonly kind: 'tool'; readonly target: ServerTarget }
  | { readonly kind: 'transcript'; readonly file: string };

/** @throws ProtocolCliError `usage`, also for options that this subject has no use for. */
async function subjectOf(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  const subject = await meantBy(word, flags);
  const strange = STRANGE[subject.kind].find(option => flags.given.includes(option));
  if (strange !== undefined)
    throw new ProtocolCliError('usage', `${strange} is for ${OTHERS[subject.kind]}`, {
      hint: 'See protocol-cli check --help.',
    });
  return subject;
}

/** Where a file has the name that a host could have too, the file is meant. */
async function meantBy(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  if (flags.demo || flags.command !== undefined) return { kind: 'tool', target: ofOptions(word, flags) };
  if (word === undefined || word === '')
    throw new ProtocolCliError('usage', 'nothing to check given', { hint: NAME_IT });
  if (word === '-' || (!word.includes('://') && (await isThere(word))))
    return { kind: 'transcript', file: word };
  const url = FILE_NAME.test(word) ? null : asUrl(word);
  if (url) return { kind: 'tool', target: { kind: 'url', url } };
  throw new ProtocolCliError('unreadable-file', `${word} is not a file and not a URL`, {
    hint: NAME_IT,
  });
}

function ofOptions(word: string | undefined, flags: CheckFlags): ServerTarget {
  const { target } = readTarget(word === undefined ? [] : [word], flags);
  if (word !== undefined || !target || target.kind === 'endpoint')
    throw new ProtocolCliError('usage', `unexpected argument "${word}"`, {
      hint: '--demo and --command take no URL and no file.',
    });
  return target;
}

/** As transcripts are called; without a file of that name it would be taken for a host. */
const FILE_NAME = /\.(?:nd)?jsonl?$/i;

const NAME_IT =
  'Give the base URL of a tool server (protocol-cli check http://127.0.0.1:3001), a transcript (protocol-cli check run.ndjson), --command, or --demo.';

async function isThere(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}

const STRANGE: Readonly<Record<Subject['kind'], readonly string[]>> = {
  tool: ['--side'],
  transcript: [
    '--operation',
    '--probe-timeout',
    '--save',
    '--header',
    '--bearer',
    '--callback-host',
    '--callback-port',
    '--callback-url',
    '--allow-host',
  ],
};

const OTHERS: Readonly<Record<Subject['kind'], string>> = {
  tool: 'a transcript: of a tool that is called here, the tool alone is judged',
  transcript: 'a tool that is called, and this is a transcript',
};

/** What is to be done. */
export interface CheckPlan {
  readonly flags: CheckFlags;
  readonly subject: Subject;
  readonly sides: readonly Side[];
  readonly selection: Selection;
  readonly cases: readonly Case[];
  readonly excuses: readonly ExpectedFailure[];
  readonly reports: readonly ReportRequest[];
}

/**
 * Whatever is wrong with the command line, or with a file that it names, is said before anything is sent.
 * @throws ProtocolCliError `usage`, `unreadable-file`, `invalid-fixtures`.
 */
export async function planCheck(
  word: string | undefined,
  flags: CheckFlags,
  { stdin }: Pick<Terminal, 'stdin'>,
): Promise<CheckPlan> {
  const subject = await subjectOf(word, flags);
  const sides = sidesOf(subject, flags);
  const selection = selectionOf(flags, sides);
  const reports = reportsOf(flags.reporter);
  await checkReportFolders(reports);
  const { cases, expectedFailures } = flags;
  return {
    flags,
    subject,
    sides,
    selection,
    reports,
    cases: cases === undefined ? [] : await readCaseFile(cases, stdin),
    excuses: expectedFailures === undefined ? [] : await readFailureFile(expectedFailures, stdin),
  };
}

/** Of a tool that we call, we are the runtime ourselves. */
function sidesOf(subject: Subject, { side }: CheckFlags): readonly Side[] {
  if (subject.kind === 'tool') return ['tool'];
  return side === undefined ? ['tool', 'runtime'] : [side];
}

/** @throws ProtocolCliError `usage` where a rule is asked for that is not judged here. */
function selectionOf({ only, skip }: CheckFlags, sides: readonly Side[]): Selection {
  const stray = only?.find(id => !sides.includes(REQUIREMENTS[id].side));
  if (stray !== undefined)
    throw new ProtocolCliError('usage', `--only ${stray}: this check covers the ${sides[0]} only`, {
      hint: `Rules of the ${REQUIREMENTS[stray].side} need a transcript: protocol-cli check run.ndjson --only ${stray}.`,
    });
  return { ...(only && { only: new Set(only) }), ...(skip && { skip: new Set(skip) }) };
}

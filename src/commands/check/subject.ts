import { stat } from 'node:fs/promises';
import { ProtocolCliError } from '../../errors.js';
import { asUrl, readTarget, type ServerTarget } from '../target.js';
import type { CheckFlags } from './flags.js';

/** What is judged: a tool that we call, or what somebody saved. */
export type Subject =
  | { readonly kind: 'tool'; readonly target: ServerTarget }
  | { readonly kind: 'transcript'; readonly file: string };

/** @throws ProtocolCliError `usage`, also for options that this subject has no use for. */
export async function subjectOf(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  const subject = await meantBy(word, flags);
  const strange = STRANGE[subject.kind].find(option => flags.given.includes(option));
  if (strange !== undefined)
    throw new ProtocolCliError('usage', `${strange} is for ${OTHERS[subject.kind]}`, {
      hint: 'protocol-cli check --help says what belongs to which.',
    });
  return subject;
}

/** Where a file has the name that a host could have too, the file is meant. */
async function meantBy(word: string | undefined, flags: CheckFlags): Promise<Subject> {
  if (flags.demo || flags.command !== undefined) return { kind: 'tool', target: ofOptions(word, flags) };
  if (word === undefined || word === '')
    throw new ProtocolCliError('usage', 'nothing to check is named', { hint: NAME_IT });
  if (word === '-' || (!word.includes('://') && (await isThere(word))))
    return { kind: 'transcript', file: word };
  const url = FILE_NAME.test(word) ? null : asUrl(word);
  if (url) return { kind: 'tool', target: { kind: 'url', url } };
  throw new ProtocolCliError('unreadable-file', `there is no file ${word}, and it is no URL`, {
    hint: NAME_IT,
  });
}

function ofOptions(word: string | undefined, flags: CheckFlags): ServerTarget {
  const { target } = readTarget(word === undefined ? [] : [word], flags);
  if (word !== undefined || !target || target.kind === 'endpoint')
    throw new ProtocolCliError('usage', `"${word}" is one subject too many`, {
      hint: 'Beside --demo or --command there is neither a URL nor a file.',
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

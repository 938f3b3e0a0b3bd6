import type { Warning } from '../../protocol/requirements.js';
import type { Trouble } from '../../reporters/reporter.js';
import { isTaken, type Notice, type NoticeAnswer, noticeUrl } from '../../runtime/notices.js';
import type { ToldNotice } from '../../story/notice-lines.js';
import { bytesText } from '../../text/bytes-text.js';

/** A notice that went to one server, and what became of it. */
export interface SentNotice {
  readonly base: string;
  readonly notice: Notice;
  readonly answer: NoticeAnswer;
  readonly ms: number;
}

export function toldOf({ base, notice, answer, ms }: SentNotice): ToldNotice {
  const url = noticeUrl(notice, base);
  const { message } = notice;
  if (answer.kind === 'answered') return { url, message, status: answer.status, said: answer.excerpt, ms };
  return { url, message, status: null, said: withoutUrl(answer.reason, url), ms };
}

/** The same as data; `said` is what the answer said, or why there was none. */
export function reportOf(sent: SentNotice): object {
  const { url, message, status, said, ms } = toldOf(sent);
  return { notice: sent.notice.kind, url, sent: message, status, ms, ...(said !== '' && { said }) };
}

/** What is worth saying of a notice that was taken: the protocol wants an empty body (TOOL-CLOSE). */
export function warningsOf({ notice, answer }: SentNotice): Warning[] {
  if (notice.kind !== 'close' || answer.kind !== 'answered' || !isTaken(answer)) return [];
  if (answer.bodySize === 0) return [];
  const size = answer.bodySize === null ? '' : ` of ${bytesText(answer.bodySize)}`;
  const message = `/close_thread was answered with a body${size}; it must be empty`;
  return [{ id: 'TOOL-CLOSE', message }];
}

/** What went wrong, if anything did: one failure in its own words, several as a list. */
export function troubleOf(all: readonly SentNotice[]): Trouble | null {
  const failed = all.filter(({ answer }) => !isTaken(answer));
  const [first] = failed;
  if (!first) return null;
  const code = failed.some(({ answer }) => answer.kind === 'answered')
    ? 'bad-acknowledgement'
    : 'unreachable';
  const hint = hintFor(first);
  if (failed.length === 1) return { code, message: failureOf(first), hint };
  const message = `${failed.length} of ${all.length} notices were not answered with 200`;
  return { code, message, faults: failed.map(failureOf), hint };
}

function failureOf(sent: SentNotice): string {
  const { url, status, said } = toldOf(sent);
  const told = said === '' ? '' : `: ${said}`;
  return status === null
    ? `${url} was not answered${told}`
    : `${url} was answered ${status} instead of 200${told}`;
}

const HINTS: Readonly<Record<Notice['kind'], string>> = {
  cancel: 'A tool answers 200 always, whether it knows the call or not (TOOL-CANCEL).',
  close: 'A tool answers 200 always, whether it knows the thread or not (TOOL-CLOSE).',
  migrate: 'The state was not moved: 200 comes only once it was (TOOL-MIGRATE).',
};

function hintFor({ notice, answer }: SentNotice): string | undefined {
  if (answer.kind === 'unanswered') return answer.hint;
  if (answer.status >= 300 && answer.status < 400)
    return 'Redirects are never followed: give the final address.';
  const isBase =
    answer.status === 404 && notice.kind !== 'migrate' ? ' Is this the base URL of the tool server?' : '';
  return HINTS[notice.kind] + isBase;
}

function withoutUrl(reason: string, url: string): string {
  return reason.startsWith(`${url}: `) ? reason.slice(url.length + 2) : reason;
}

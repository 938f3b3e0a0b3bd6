import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { type Invocation, NOTICES } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { excerpt } from '../../util/text.js';
import { valueAt } from '../../util/values.js';
import type { CallEvidence } from '../call.js';
import { isTo, type KnownServer } from '../discovery.js';
import type { DriverEvidence, InstructionMessage, ObservationMessage } from '../driver-evidence.js';
import type { Evidence } from '../evidence.js';
import {
  defineRules,
  doubtful,
  met,
  type Observation,
  type Observed,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { faultLine } from '../rule-details.js';

/** Notices and migrations. */
export const runtimeNoticeRules = defineRules({
  'RT-NOTIFY': {
    level: 'MUST',
    statement:
      'sends notices with the right fields to all servers at once, without retries; their failures never block',
    advice: 'Send a notice to all servers at once, once each, and do not wait for them.',
    masks: ['RT-CANCEL'],
    absent: 'no notice was sent',
    observe: evidence => {
      const { closes, cancels, driver } = evidence;
      const earlier = new Map<string, RoundTrip>();
      return [
        [...closes, ...cancels].map(
          notice => judgeNoticeFields(notice) ?? judgeRepeatedNotice(notice, earlier, driver !== null),
        ),
        driver
          ? [
              judgeClosedThread(evidence, driver),
              judgeCanceledCalls(evidence, driver),
              judgeCanceledSubscriptions(evidence, driver),
            ]
          : null,
      ];
    },
  },
  'RT-MIGRATE': {
    level: 'MUST',
    statement:
      'sends /migrate only to servers that declare needsMigration, waits for each, and stops if one fails',
    advice: 'Send /migrate once to each server with needsMigration, wait for the 200, and report a failure.',
    needs: ['migrate'],
    absent: 'no session was migrated by a scenario',
    observe: evidence =>
      evidence.driver?.instructions('migrate').map(asked => judgeMigration(asked, evidence)) ?? null,
  },
});

function judgeNoticeFields(notice: RoundTrip): Observation | null {
  const { request, sentJson } = notice;
  const isClose = request.purpose === 'close';
  const name = isClose ? 'close_thread' : 'cancel_tool_call';
  if (request.method !== 'POST')
    return violated(`a ${name} notice is a ${excerpt(request.method)}, not a POST`, notice);
  if (isBodyLost(request)) return null;
  const read = validate(NOTICES[isClose ? 'close' : 'cancel'].body, sentJson);
  if (read.ok) return null;
  const judged = request.body ? violated : violatedIfComplete;
  return judged(`the fields of a ${name} notice are wrong`, notice, { faults: read.faults.map(faultLine) });
}

/**
 * @param earlier the first notice by URL and body; in a transcript, the first that failed
 * @param isDriven whether each notice was asked for once
 */
function judgeRepeatedNotice(
  notice: RoundTrip,
  earlier: Map<string, RoundTrip>,
  isDriven: boolean,
): Observation {
  const { url, body } = notice.request;
  const name = `${url} ${body?.sha256 ?? ''}`;
  const first = earlier.get(name);
  if (first) {
    const judged = first.end ? violated : violatedIfComplete;
    const what = first.status === 200 ? 'a notice was sent again' : 'a notice that failed was sent again';
    return judged(what, [first, notice]);
  }
  if (isDriven || notice.status !== 200) earlier.set(name, notice);
  return met(notice);
}

/** A runtime that waits for an answer waits longer. It may end as soon as its notices are sent, before all have been read; in ms. */
const MIN_WAIT_MS = 150;

/** Each server with a toolset must get one notice per thread. */
function judgeClosedThread({ calls, closes, servers }: Evidence, driver: DriverEvidence): Observed {
  const [end] = driver.instructions('end');
  const threads = new Set(calls.flatMap(({ invocation }) => invocation?.group_id ?? []));
  if (!end || driver.crash || threads.size === 0) return null;
  const own = closes.filter(({ request }) => request.seq > end.event.seq);
  if (driver.endsByItself && closes.length === 0) return null; // nothing asked it to close the thread
  if (driver.overdue && own.length === 0) return null; // still waits for something else
  const missing = servers.filter(
    server => server.toolset && !own.some(each => isTo(server, each) && threads.has(threadOf(each))),
  );
  const hanging = own.find(({ status, end }) => status === null && end);
  const late = own.find(
    ({ request }) =>
      hanging && request.seq > hanging.lastSeq && request.at - hanging.request.at >= MIN_WAIT_MS,
  );
  const isBlocked = driver.overdue && own.some(({ status }) => status !== 200);
  return [
    missing.map(server => lackingNotice('close_thread', server, end)),
    hanging && late
      ? violated('a notice was sent only after one that got no answer had ended', [hanging, late])
      : null,
    isBlocked ? doubtful('the runtime did not end, since a notice was not answered', own) : null,
  ];
}

function threadOf({ sentJson }: RoundTrip): string {
  return String(valueAt(sentJson, 'thread_id'));
}

function lackingNotice(name: string, { toolset }: KnownServer, asked: InstructionMessage): Observation {
  return violatedIfComplete(
    `the server of the toolset ${excerpt(toolset?.name ?? '')} got no ${name} notice`,
    asked,
  );
}

/** The server of each pending call must get a notice; other servers may. */
function judgeCanceledCalls(evidence: Evidence, driver: DriverEvidence): Observed {
  const [asked] = driver.instructions('cancel');
  if (!asked) return null;
  const pending = evidence.calls.filter(call => isPendingAt(call, asked.event.seq));
  return pending.map(call => judgeCanceledCall(call, asked, evidence));
}

function judgeCanceledCall(
  { invocation, attempts: [attempt] }: CallEvidence,
  asked: InstructionMessage,
  { cancels, servers }: Evidence,
): Observed {
  const server = attempt && servers.find(each => isTo(each, attempt));
  if (!server || !invocation) return null;
  const own = cancels.filter(each => isTo(server, each) && isNoticeOf(invocation, each));
  return own.length > 0 ? met(own) : lackingNotice('cancel_tool_call', server, asked);
}

function isNoticeOf({ group_id, id }: Invocation, { sentJson }: RoundTrip): boolean {
  return valueAt(sentJson, 'thread_id') === group_id && valueAt(sentJson, 'tool_call_id') === id;
}

/** The model cancels one subscription; the others stay open. */
function judgeCanceledSubscriptions(evidence: Evidence, driver: DriverEvidence): Observed {
  const { calls, cancels } = evidence;
  return driver.instructions('cancel-subscription').map(asked => {
    const open = calls.filter(call => isPendingAt(call, asked.event.seq));
    return open.map(call => {
      const { invocation } = call;
      if (!invocation) return null;
      if (invocation.id === asked.message.id) return judgeCanceledCall(call, asked, evidence);
      const end = driver.mayIgnoreFromSeqOf(call);
      const wrong = cancels.find(each => each.request.seq < end && isNoticeOf(invocation, each));
      return wrong
        ? violated('a notice canceled a call that the model did not cancel', [asked, wrong])
        : null;
    });
  });
}

/** Whether a call was accepted, and neither ended nor canceled. */
function isPendingAt(call: CallEvidence, seq: number): boolean {
  const [first] = call.attempts;
  if (!first || first.request.seq > seq || call.attempts.at(-1)?.status !== 200) return false;
  const before = call.received.filter(({ callback }) => callback.request.seq < seq);
  const results = before.flatMap(({ message }) => (message.type === 'tool_result' ? [message] : []));
  const isFinal = before.some(({ message }) => message.type === 'subscription_event' && message.final);
  return results.length === 0 || (results.some(({ subscription }) => subscription) && !isFinal);
}

function judgeMigration(
  asked: InstructionMessage<'migrate'>,
  { migrations, servers, driver }: Evidence,
): Observed {
  const own = migrations.filter(({ request }) => request.seq > asked.event.seq);
  const faults = own.flatMap((each, index) => migrationFault(each, own.slice(0, index), servers));
  if (!driver || faults.length > 0) return faults;
  const [migrated] = driver.observations('migrated');
  const failed = own.find(({ status }) => status !== 200);
  if (migrated) return judgeMigrated(migrated, failed, own, servers);
  if (!failed) {
    const isNeeded = servers.some(({ toolset }) => toolset?.needsMigration);
    if (isNeeded && own.length === 0)
      return violatedIfComplete('/migrate was not sent to a server that declares needsMigration', asked);
    return driver.supports('migrated')
      ? violatedIfComplete('the migration did not succeed', [asked, ...own])
      : met(asked);
  }
  const report = driver.observations('failure').find(({ event }) => event.seq > failed.lastSeq);
  if (report || !driver.supports('failure')) return met(report ? [failed, report] : failed);
  return violatedIfComplete(`no failure was reported although /migrate ${answerOf(failed)}`, failed);
}

function migrationFault(
  migration: RoundTrip,
  earlier: readonly RoundTrip[],
  servers: readonly KnownServer[],
): readonly Observation[] {
  const { request, sentJson } = migration;
  const read = validate(NOTICES.migrate.body, sentJson);
  if (request.method !== 'POST' || !read.ok)
    return [violated('the migration is not {session_id, destination_url}', migration)];
  if (!servers.some(server => isTo(server, migration) && server.toolset?.needsMigration))
    return [violated('/migrate was sent to a server that does not declare needsMigration', migration)];
  const first = earlier.find(each => each.request.url === request.url);
  return first ? [violated('/migrate was sent again to the same server', [first, migration])] : [];
}

function judgeMigrated(
  migrated: ObservationMessage<'migrated'>,
  failed: RoundTrip | undefined,
  own: readonly RoundTrip[],
  servers: readonly KnownServer[],
): Observed {
  const early = own.find(({ end }) => (end?.seq ?? Number.POSITIVE_INFINITY) > migrated.event.seq);
  if (early) return violated('the migration succeeded before /migrate was answered', [early, migrated]);
  if (failed)
    return violated(`the migration succeeded although /migrate ${answerOf(failed)}`, [failed, migrated]);
  const isLeftOut = (server: KnownServer) =>
    server.toolset?.needsMigration && !own.some(each => isTo(server, each));
  return servers.some(isLeftOut)
    ? violatedIfComplete(
        'the migration succeeded without /migrate to a server that declares needsMigration',
        migrated,
      )
    : met([...own, migrated]);
}

function answerOf({ status, broken: failure }: RoundTrip): string {
  return status === null ? `failed (${failure?.code})` : `was answered ${status}`;
}

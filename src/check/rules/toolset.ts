import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { NOTICES } from '../../protocol/invocation.js';
import { validate } from '../../protocol/validate.js';
import { asksForCredentials } from '../../util/headers.js';
import { truncateBeforeToken } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type Discovery, toolsetsAt } from '../discovery.js';
import {
  defineRules,
  doubtful,
  met,
  type Observation,
  unrecorded,
  violated,
  violatedIfComplete,
} from '../rule.js';
import { CALLBACK_RULES, faultLine, nullRemark, refusalDetails, statusMismatch } from '../rule-details.js';

/** Rules about calls: an operation of an invalid toolset must not be called (RT-TOOLSET). */
const CALL_RULES = ['TOOL-ACK', 'TOOL-ASYNC', 'TOOL-ALWAYS', ...CALLBACK_RULES, 'TOOL-MIGRATE'] as const;

/** An error of a document that TOOL-NAMES judges. */
const NAME_FAULT = /^\$\.tools\[\d+\]\.name: /;

/** The toolset of a tool, and what it says about the tool. */
export const toolsetRules = defineRules({
  'TOOL-DISCOVER': {
    level: 'MUST',
    statement: 'serves a valid toolset at the discovery URL',
    advice:
      'Serve the toolset as JSON at /.well-known/rap-toolset; validate it with protocol-cli toolset <url>.',
    masks: ['TOOL-NAMES', ...CALL_RULES],
    absent: 'no toolset was asked for',
    observe: ({ discoveries, isLive }) => {
      const found = discoveries.filter(({ status }) => status === 200);
      if (found.length > 0) return found.map(judgeDocument);
      return discoveries.length > 0 ? judgeNothing(discoveries, isLive) : null;
    },
  },
  'TOOL-NAMES': {
    level: 'MUST',
    statement: 'has valid and unique tool names',
    advice: 'Give each tool a unique name of 1 to 128 characters from A–Z a–z 0–9 _ -.',
    masks: ['TOOL-DISCOVER', ...CALL_RULES],
    absent: 'no toolset was found whose names could be judged',
    observe: ({ discoveries }) =>
      discoveries.map(discovery => {
        const { reading } = discovery;
        if (!reading) return null;
        const problems = reading.ok ? reading.notes : reading.faults;
        const faults = problems.filter(fault => NAME_FAULT.test(fault)).map(faultLine);
        if (faults.length === 0) return reading.ok ? met(discovery) : null;
        return reading.ok
          ? doubtful('clients may reject these tool names', discovery, { faults })
          : violated('tool names are invalid or not unique', discovery, { faults });
      }),
  },
  'TOOL-MIGRATE': {
    level: 'MUST',
    statement: 'serves /migrate if needsMigration is set, and answers 200 only on success',
    advice: 'Serve POST /migrate: 200 after the state has moved, else 4xx or 5xx; or remove needsMigration.',
    absent: 'the toolset needs no migration, or none was asked for',
    observe: ({ migrations, discoveries }) =>
      migrations
        .filter(({ request }) => toolsetsAt(discoveries, request.at).some(each => each.needsMigration))
        .map(judgeMigration),
  },
  'TOOL-RATE': {
    level: 'SHOULD',
    statement: 'limits the rate of invocations: 200 and an error result with the time to wait',
    advice:
      'Answer invocations over the limit with 200, then send an “Error: ” result with the time to wait.',
    invocationPage: 'Tools SHOULD rate-limit invocations to prevent abuse',
    unobservable: 'not tested (needs load)',
  },
});

/** Maximum length of a quoted content type, in characters. */
const MAX_TYPE_LENGTH = 500;

function judgeDocument(discovery: Discovery): Observation {
  const { reading, response } = discovery;
  if (!reading)
    return response && isBodyLost(response)
      ? unrecorded('the document was not recorded', discovery)
      : violated('discovery answered 200 without a document', discovery, { expected: '200, and a toolset' });
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !NAME_FAULT.test(fault)).map(faultLine);
    return faults.length > 0
      ? violated('invalid toolset', discovery, { faults })
      : met(discovery, 'valid except for its names');
  }
  const type = response?.headers['content-type'] ?? 'none';
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  const remarks = [
    ...reading.notes.filter(note => !NAME_FAULT.test(note)),
    ...nullRemark(reading.nulls, 'toolset'),
    ...(isJson ? [] : [`its content type is ${truncateBeforeToken(type, MAX_TYPE_LENGTH)}`]),
  ];
  return remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), discovery) : met(discovery);
}

/** Judges the requests for the toolset, at the base URL and at its origin, of which none found it. */
function judgeNothing(discoveries: readonly Discovery[], isLive: boolean): Observation {
  const statuses = new Set(discoveries.flatMap(({ status }) => status ?? []));
  const isLocked = ({ response }: Discovery) =>
    response !== null && asksForCredentials(response.status, response.headers);
  if (discoveries.some(isLocked))
    return unrecorded(`discovery requires credentials${isLive ? ' (--bearer, --header)' : ''}`, discoveries);
  const forbidden = discoveries.find(({ status }) => status === 403);
  if (forbidden) return unrecorded('discovery answered 403', discoveries, refusalDetails(forbidden));
  const actual = [...statuses].join(', ');
  if (actual !== '')
    return violatedIfComplete(`discovery answered ${actual}`, discoveries, {
      expected: '200, and a toolset',
      actual,
    });
  if (discoveries.every(({ failure }) => failure === 'aborted'))
    return unrecorded('the request for the toolset was canceled before an answer came', discoveries);
  const codes = new Set(discoveries.flatMap(({ broken: error }) => error?.code ?? []));
  return codes.size === 0
    ? unrecorded('the answer to the request for the toolset was not recorded', discoveries)
    : unrecorded(`the tool could not be reached (${[...codes].join(', ')})`, discoveries);
}

function judgeMigration(migration: RoundTrip): Observation {
  const { status, request, sentJson } = migration;
  if (status === null) return unrecorded('/migrate did not answer', migration);
  if (status === 405 || (status === 404 && !explainsRefusal(migration)))
    return violated(`/migrate is missing: it answered ${status}`, migration);
  const isInvalid = !isBodyLost(request) && !validate(NOTICES.migrate.body, sentJson).ok;
  return status < 300 && isInvalid
    ? violated(
        `/migrate answered ${status} to an invalid request`,
        migration,
        statusMismatch(migration, '4xx or 5xx'),
      )
    : met(migration, `/migrate answered ${status}`);
}

/** Whether a 404 names the unknown session; the default 404 page of a server does not. */
function explainsRefusal({ response }: RoundTrip): boolean {
  const text = Buffer.from(response?.body?.bytes.subarray(0, 4_096) ?? []).toString('utf8');
  return /session|destination|migration|thread/i.test(text);
}

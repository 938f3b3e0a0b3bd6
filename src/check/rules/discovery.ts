import { isBodyLost, type RoundTrip } from '../../events/round-trips.js';
import { NOTICES } from '../../protocol/invocation.js';
import type { Tool } from '../../protocol/toolset.js';
import { validate } from '../../protocol/validate.js';
import { parseDisplayScript } from '../../util/display-script.js';
import { cutBeforeToken } from '../../util/text.js';
import { visibleLine } from '../../util/visible.js';
import { type Discovery, toolsetsAt } from '../call.js';
import {
  answeredOther,
  broken,
  CALL_RULES,
  defineRules,
  doubtful,
  faultLine,
  held,
  heldBut,
  lacking,
  nullRemark,
  type Observation,
  type Observed,
  unseen,
} from '../rule.js';

/** Maximum length of a quoted content type, in characters. */
const MAX_TYPE_LENGTH = 500;

const NAME_FAULT = /^\$\.tools\[\d+\]\.name: /;

export const discoveryRules = defineRules({
  'TOOL-DISCOVER': {
    level: 'MUST',
    statement: 'serves a valid toolset at the discovery URL',
    advice:
      'Serve the toolset as JSON at /.well-known/rap-toolset; validate it with protocol-cli toolset <url>.',
    masks: ['TOOL-NAMES', ...CALL_RULES],
    absent: 'no toolset was asked for',
    observe: ({ discoveries }) => {
      const found = discoveries.filter(({ status }) => status === 200);
      if (found.length > 0) return [...found.map(onDocument), ...discoveries.map(onUnreachable)];
      return discoveries.length > 0 ? onNothing(discoveries) : null;
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
        if (faults.length === 0) return reading.ok ? held(discovery) : null;
        return reading.ok
          ? doubtful('clients may reject these tool names', discovery, { faults })
          : broken('tool names are invalid or not unique', discovery, { faults });
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
        .map(onMigration),
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

function onDocument(discovery: Discovery): Observation {
  const { reading, response } = discovery;
  if (!reading)
    return response && isBodyLost(response)
      ? unseen('the document was not recorded', discovery)
      : broken('discovery answered 200 without a document', discovery, { expected: '200, and a toolset' });
  if (!reading.ok) {
    const faults = reading.faults.filter(fault => !NAME_FAULT.test(fault)).map(faultLine);
    return faults.length > 0
      ? broken('invalid toolset', discovery, { faults })
      : held(discovery, 'valid except for its names');
  }
  const type = response?.headers['content-type'] ?? 'none';
  const isJson = /^application\/(?:[\w.+-]+\+)?json\b/i.test(type);
  const remarks = [
    ...reading.notes.filter(note => !NAME_FAULT.test(note)),
    ...reading.toolset.tools.flatMap(scriptRemark),
    ...nullRemark(reading.nulls),
    ...(isJson ? [] : [`its content type is ${cutBeforeToken(type, MAX_TYPE_LENGTH)}`]),
  ];
  return remarks.length > 0 ? doubtful(visibleLine(remarks.join('; ')), discovery) : held(discovery);
}

/** Clients show name(arguments) instead of an invalid script. */
function scriptRemark({ displayScript }: Tool, index: number): string[] {
  const script = displayScript === undefined ? null : parseDisplayScript(displayScript);
  return script?.kind === 'invalid'
    ? [`$.tools[${index}].displayScript cannot be parsed: ${script.reason}`]
    : [];
}

/** Ignores a failed request if another one returned the toolset. */
function onUnreachable(discovery: Discovery, _: number, { length }: readonly Discovery[]): Observed {
  const { broken: error, failure } = discovery;
  if (!error || failure === 'aborted') return null;
  return heldBut(`requested ${length} times; the tool was unreachable once (${error.code})`, discovery);
}

/** Whether the toolset was requested at the base URL and at its origin, and found at neither. */
function onNothing(discoveries: readonly Discovery[]): Observation {
  const statuses = new Set(discoveries.flatMap(({ status }) => status ?? []));
  if (statuses.has(401) || statuses.has(403))
    return unseen('discovery requires credentials (--bearer, --header)', discoveries);
  const actual = [...statuses].join(', ');
  if (actual !== '')
    return lacking(`discovery answered ${actual}`, discoveries, { expected: '200, and a toolset', actual });
  if (discoveries.every(({ failure }) => failure === 'aborted'))
    return unseen('the request for the toolset was canceled before an answer came', discoveries);
  const codes = new Set(discoveries.flatMap(({ broken: error }) => error?.code ?? []));
  return unseen(`the tool could not be reached (${[...codes].join(', ')})`, discoveries);
}

function onMigration(migration: RoundTrip): Observation {
  const { status, request, sentJson } = migration;
  if (status === null) return unseen('/migrate did not answer', migration);
  if (status === 405 || (status === 404 && !explainsRefusal(migration)))
    return broken(`/migrate is missing: it answered ${status}`, migration);
  const isInvalid = !isBodyLost(request) && !validate(NOTICES.migrate.body, sentJson).ok;
  return status === 200 && isInvalid
    ? broken('/migrate answered 200 to an invalid request', migration, answeredOther(migration, '4xx or 5xx'))
    : held(migration, `/migrate answered ${status}`);
}

/** Whether a 404 names the unknown session; the default 404 page of a server does not. */
function explainsRefusal({ response }: RoundTrip): boolean {
  const text = Buffer.from(response?.body?.bytes.subarray(0, 4_096) ?? []).toString('utf8');
  return /session|destination|migration|thread/i.test(text);
}

import { createHash } from 'node:crypto';
import { Content } from '../events/content.js';
import type { Incoming, Route } from '../http/route.js';
import {
  cancelToolCallSchema,
  choiceResponseSchema,
  closeThreadSchema,
  migrateSchema,
} from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { readJson } from '../util/json.js';
import { didYouMean, excerpt } from '../util/text.js';
import { isRecord } from '../util/values.js';
import { visibleLine } from '../util/visible.js';
import type { ChoiceQuestion, Consent } from './conversation.js';
import { baseFor, type Concern, ServedRequest } from './intake.js';
import type { JournalReports } from './journal/report.js';
import { CONSENT_PATH, type MockState } from './mock-state.js';
import type { ToolsetFields } from './responder.js';

type Handler = Route['handle'];

/** A route at exactly one path. */
function get(path: string, handle: Handler): Route {
  return { name: path, method: 'GET', accepts: 'nothing', serves: asked => asked === path, handle };
}

/** As {@link get}, for a JSON body. */
function post(path: string, handle: Handler): Route {
  return { name: path, method: 'POST', accepts: 'json', serves: asked => asked === path, handle };
}

const JSON_TYPE = { 'Content-Type': 'application/json' };

interface AdminParts {
  /** What happened, call by call or event by event. */
  readonly journal: Pick<JournalReports, 'report' | 'transcript'>;
  readonly reset: (key?: string) => void;
  /** Returns how many were fired; all that wait without an id, and in every thread without one. */
  readonly fire: (id?: string, groupId?: string) => number;
}

/** The mock's own controls, for tests in any language. Guarded like everything else; none of it is part of the protocol. */
export function adminRoutes({ journal, reset, fire }: AdminParts): Route[] {
  return [
    get('/__mock__/journal', ({ headers }) => {
      const isTranscript = headers.accept?.includes('application/x-ndjson');
      const type = isTranscript ? 'application/x-ndjson' : 'application/json';
      const pieces = isTranscript ? journal.transcript() : journal.report();
      return { status: 200, headers: { 'Content-Type': type }, pieces };
    }),
    control('/__mock__/reset', ['key'], ({ key }) => {
      reset(key);
      return { reset: key ?? 'all' };
    }),
    control('/__mock__/fire', ['id', 'group_id'], ({ id, group_id }) => ({ fired: fire(id, group_id) })),
  ];
}

type Values<F extends string> = { [K in F]?: string };

/** A POST with no body at all, or with these fields, each of which is optional. */
function control<F extends string>(
  path: string,
  fields: readonly [F, ...F[]],
  work: (values: Values<F>) => unknown,
): Route {
  const handle: Handler = ({ body }) => {
    const values: Values<F> = {};
    const problem = readFields(body, fields, values);
    if (problem !== null) return { status: 400, body: `${problem}\n` };
    return { status: 200, headers: JSON_TYPE, body: JSON.stringify(work(values)) };
  };
  return { ...post(path, handle), accepts: 'json?' };
}

/** Returns what is wrong, or null. A misspelt field must not mean everything. */
function readFields<F extends string>(
  body: Uint8Array,
  fields: readonly [F, ...F[]],
  values: Values<F>,
): string | null {
  if (body.length === 0) return null;
  const unreadable = (field: string) => `The body must be empty, or JSON such as {"${field}":"…"}.`;
  const json = readJson(body);
  if (!json.ok || !isRecord(json.value)) return unreadable(fields[0]);
  for (const [key, value] of Object.entries(json.value)) {
    const field = fields.find(each => each === key);
    const meant = didYouMean(key, fields) || `Known fields: "${fields.join('", "')}".`;
    if (field === undefined) return `unknown field ${excerpt(key)}. ${meant}`;
    if (typeof value !== 'string') return unreadable(field);
    values[field] = value;
  }
  return null;
}

/** Everything that a runtime, its user, or their browser may ask of a mock. */
export function protocolRoutes(state: MockState, invoke: Handler): Route[] {
  return [
    post(INVOKE_PATH, invoke),
    discoveryRoute(state),
    ...noticeRoutes(state),
    choiceRoute(state),
    ...consentRoutes(state),
  ];
}

const INVOKE_PATH = '/invoke';

/**
 * TOOL-DISCOVER. The endpoint uses the host name of the request, such as a container name. Clients may poll this: an unchanged
 * document is the same content in the log.
 */
function discoveryRoute({ log, responder }: MockState): Route {
  let known: { readonly of: ToolsetFields; readonly endpoint: string; readonly content: Content } | null =
    null;
  return get('/.well-known/rap-toolset', incoming => {
    const request = new ServedRequest(log, incoming, 'discovery');
    const of = responder.toolset;
    const endpoint = baseFor(incoming) + INVOKE_PATH;
    if (known?.of !== of || known.endpoint !== endpoint)
      known = { of, endpoint, content: Content.ofJson({ ...of, endpoint }) };
    return request.answerWith(known.content, JSON_TYPE);
  });
}

/** Notices. Known, unknown, repeated or nonsense: 200 always (TOOL-CANCEL, TOOL-CLOSE). */
function noticeRoutes(state: MockState): Route[] {
  const { log } = state;
  const kept = () => log.kept().catch(() => {}); // failures of the journal are reported elsewhere
  return [
    post('/cancel_tool_call', async incoming => {
      const { value, body } = read(cancelToolCallSchema, incoming);
      const about = value && {
        thread: value.thread_id,
        calls: [state.cancel(value.thread_id, value.tool_call_id)],
      };
      const request = new ServedRequest(log, incoming, 'cancel', { about: about ?? {}, body });
      await kept();
      return request.answer(200);
    }),
    post('/close_thread', async incoming => {
      const { value, body } = read(closeThreadSchema, incoming);
      const about = value ? { thread: value.thread_id } : {};
      const request = new ServedRequest(log, incoming, 'close', { about, body });
      if (value) state.closeThread(value.thread_id);
      await kept();
      return request.answer(200);
    }),
    {
      // 200 only once the state has moved (TOOL-MIGRATE); a mock keeps counts and states of threads
      ...post('/migrate', async incoming => {
        const { value, faults, body } = read(migrateSchema, incoming);
        const about = value ? { thread: value.session_id } : {};
        const request = new ServedRequest(log, incoming, 'migrate', { about, body });
        if (!value)
          return request.answer(400, { body: `not migrated: ${faults.length} errors in the request\n` });
        state.closeThread(value.session_id);
        await kept();
        return request.answer(200);
      }),
      serves: path => path === '/migrate' && state.responder.toolset.needsMigration,
    },
  ];
}

function read<S extends Parameters<typeof validate>[0]>(schema: S, { body: bytes }: Incoming) {
  const body = new Content(bytes);
  const checked = validate(schema, body.json.ok ? body.json.value : undefined);
  return { body, value: checked.ok ? checked.value : null, faults: checked.ok ? [] : checked.faults };
}

function concernOf({ calls, thread }: Pick<ChoiceQuestion, 'calls' | 'thread'>): Concern {
  return { calls: [...calls], thread };
}

/** Where a runtime POSTs what the user picked (TOOL-CHOICE). The first answer counts; a repeated one is accepted and ignored. */
function choiceRoute({ log, services: { choices: questions } }: MockState): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'json',
    serves: path => questions.at(path) !== undefined,
    handle: incoming => {
      const question = questions.at(incoming.target);
      if (!question) return { status: 404 };
      const { choices, id } = question.about;
      const about = concernOf(question.about);
      const { value, body } = read(choiceResponseSchema, incoming);
      const request = new ServedRequest(log, incoming, 'choice', { about, body });
      if (!value || value.id !== id || value.selected >= choices.length) {
        const message =
          'invalid answer to a choice: it must contain the id of the call and the index of a choice';
        log.emit({ kind: 'warned', message, ...about });
        return request.answer(400, { body: choiceHelp(question.about) });
      }
      const { selected } = value;
      if (question.resolve(selected))
        log.emit({ kind: 'decided', what: 'choice', by: 'person', value: selected, ...about });
      return request.answer(200);
    },
  };
}

/** Explains the format to a person who answers by hand. */
function choiceHelp({ id, choices }: ChoiceQuestion): string {
  const labels = choices.map((choice, index) => `${index} ${visibleLine(choice)}`).join(', ');
  const example = JSON.stringify({ id, selected: choices.length - 1 });
  return `The answer must contain the id of the call and the index of a choice, for example ${example}; choices: ${labels}\n`;
}

/** The mock's own consent page: the only one that a browser may visit. Its state works once (TOOL-OAUTH). */
function consentRoutes({ log, services: { consents: questions }, responder }: MockState): Route[] {
  const page = { serves: (path: string) => path === CONSENT_PATH, browsers: 'same-origin' } as const;
  const serve = (incoming: Incoming, about: Concern = {}) =>
    new ServedRequest(log, { ...incoming, target: CONSENT_PATH }, 'consent', { about });
  const show = (request: ServedRequest, status: number, body: string) =>
    request.answer(status, { headers: PAGE_HEADERS, body });
  return [
    {
      ...page,
      name: 'consent page',
      method: 'GET',
      accepts: 'nothing',
      handle: incoming => {
        const question = questions.at(incoming.target);
        if (!question?.isOpen) return show(serve(incoming), 410, UNKNOWN_PAGE);
        const { operation, scopes } = question.about;
        const request = serve(incoming, concernOf(question.about));
        return show(request, 200, consentPage(responder.toolset.name, operation, scopes));
      },
    },
    {
      ...page,
      name: 'consent',
      method: 'POST',
      accepts: 'form',
      handle: incoming => {
        const question = questions.at(incoming.target);
        const decision = decisionIn(incoming);
        if (!question || !decision || !question.resolve(decision))
          return show(serve(incoming), 410, UNKNOWN_PAGE);
        const about = concernOf(question.about);
        const request = serve(incoming, about);
        log.emit({ kind: 'decided', what: 'consent', by: 'person', value: decision, ...about });
        return show(request, 200, donePage(decision));
      },
    },
  ];
}

function decisionIn({ body }: Incoming): Consent | null {
  const decision = new URLSearchParams(Buffer.from(body).toString('utf8')).get('decision');
  return decision === 'granted' || decision === 'refused' ? decision : null;
}

const STYLE = `
:root { color-scheme: light dark; --ink: #1c2024; --paper: #fff; --back: #f0f2f5; --line: #c3c9d1; --main: #0b5cad; --on-main: #fff; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e8eaed; --paper: #1e2227; --back: #121417; --line: #4a515b; --main: #8ec2f5; --on-main: #10151b; }
}
* { box-sizing: border-box; }
body { margin: 0; min-height: 100vh; display: grid; place-items: center; padding: 1rem; background: var(--back); color: var(--ink); font: 1rem/1.5 system-ui, sans-serif; }
main { width: 100%; max-width: 30rem; padding: 2rem; background: var(--paper); border: 1px solid var(--line); border-radius: .75rem; overflow-wrap: anywhere; }
h1 { margin: 0 0 1rem; font-size: 1.35rem; font-weight: 500; line-height: 1.3; }
code { font: .95em ui-monospace, monospace; }
form { display: flex; flex-wrap: wrap; gap: .75rem; margin-top: 1.5rem; }
button { flex: 1; min-height: 2.75rem; padding: 0 1rem; font: inherit; font-weight: 600; color: inherit; background: none; border: 1px solid var(--line); border-radius: .5rem; cursor: pointer; }
button.grant { color: var(--on-main); background: var(--main); border-color: var(--main); }
button:focus-visible { outline: 3px solid var(--main); outline-offset: 2px; }
.note { margin: 1.5rem 0 0; font-size: .85rem; opacity: .8; }
`;

const POLICY = [
  "default-src 'none'",
  `style-src 'sha256-${createHash('sha256').update(STYLE).digest('base64')}'`,
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join('; ');

/**
 * What the only page we serve may do: show itself and send its form back to us. Its referrer is kept: without one a browser sends
 * `Origin: null` with the form, which no guard can tell from that of a foreign page.
 */
const PAGE_HEADERS: Readonly<Record<string, string>> = {
  'Content-Type': 'text/html; charset=utf-8',
  'Content-Security-Policy': POLICY,
  'Referrer-Policy': 'same-origin',
  'Cache-Control': 'no-store',
  'X-Content-Type-Options': 'nosniff',
};

function page(title: string, content: string): string {
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${html(title)}</title>
<style>${STYLE}</style>
</head>
<body>
<main>
${content}
</main>
</body>
</html>
`;
}

/** The answer is POSTed to the page's own URL as the form field `decision`: `granted` or `refused`. */
function consentPage(toolset: string, operation: string, scopes: readonly string[]): string {
  const items = scopes.map(scope => `<li><code>${html(scope)}</code></li>`).join('\n');
  return page(
    `Authorize ${toolset}?`,
    `<h1><b>${html(toolset)}</b> asks for your permission</h1>
<p>Permission is needed to run <code>${html(operation)}</code>.</p>
${items === '' ? '<p>No scopes are requested.</p>' : `<p>Requested scopes:</p>\n<ul>\n${items}\n</ul>`}
<form method="post">
<button name="decision" value="granted" class="grant">Grant</button>
<button name="decision" value="refused">Refuse</button>
</form>
<p class="note">This is the consent page of a mock tool. No account is involved, and nothing is stored.</p>`,
  );
}

function donePage(decision: Consent): string {
  const title = decision === 'granted' ? 'Permission granted' : 'Permission refused';
  return page(title, `<h1>${title}</h1>\n<p>The tool continues. You can close this page.</p>`);
}

/** The same page for a state that is unknown, used or over: it tells a stranger nothing. */
const UNKNOWN_PAGE = page(
  'Nothing to decide',
  `<h1>Nothing to decide here</h1>
<p>This link is unknown, was used already, or its call is over. Call the tool again for a new one.</p>`,
);

/** Foreign text becomes neither markup nor controls of the text around it (threats, row 24). */
function html(text: string): string {
  return visibleLine(text).replace(/[&<>"']/g, character => `&#${character.charCodeAt(0)};`);
}

import { createHash } from 'node:crypto';
import { Content } from '../events/content.js';
import type { Log } from '../events/log.js';
import type { Answer, Incoming, Route } from '../http/request-body.js';
import {
  cancelToolCallSchema,
  choiceResponseSchema,
  closeThreadSchema,
  migrateSchema,
} from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { excerpt } from '../util/excerpt.js';
import { readJson } from '../util/json.js';
import { isRecord } from '../util/json-diagnosis.js';
import { didYouMean } from '../util/nearest.js';
import { visibleLine } from '../util/visible.js';
import type { ChoiceQuestion, Consent, ConsentQuestion } from './conversation.js';
import { baseFor, type Concern, ServedRequest } from './intake.js';
import type { JournalReports } from './journal/report.js';
import type { Questions } from './reply-waits.js';
import type { ToolsetFields } from './toolset.js';

type Handler = Route['handle'];

/** A route at exactly one path. */
function get(path: string, handle: Handler): Route {
  return { name: path, method: 'GET', accepts: 'nothing', serves: asked => asked === path, handle };
}

/** As {@link get}, for a JSON body. */
export function post(path: string, handle: Handler): Route {
  return { name: path, method: 'POST', accepts: 'json', serves: asked => asked === path, handle };
}

function jsonAnswer(value: unknown) {
  return { status: 200, headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(value) };
}

interface AdminParts {
  /** What happened, call by call or event by event. */
  readonly journal: Pick<JournalReports, 'report' | 'transcript'>;
  readonly reset: (key?: string) => void;
  /** How many were fired; all that wait where no id is given, and in every thread where none is. */
  readonly fire: (id?: string, groupId?: string) => number;
}

/** The mock's own controls, for tests in any language. Guarded like everything else; none of it is part of the protocol. */
export function adminRoutes({ journal, reset, fire }: AdminParts): Route[] {
  return [
    get('/__mock__/journal', ({ headers }) =>
      headers.accept?.includes('application/x-ndjson')
        ? streamed('application/x-ndjson', journal.transcript())
        : streamed('application/json', journal.report()),
    ),
    control('/__mock__/reset', ['key'], ({ key }) => {
      reset(key);
      return { reset: key ?? 'all' };
    }),
    control('/__mock__/fire', ['id', 'group_id'], ({ id, group_id }) => ({ fired: fire(id, group_id) })),
  ];
}

function streamed(type: string, pieces: Iterable<Uint8Array>): Answer {
  return { status: 200, headers: { 'Content-Type': type }, pieces };
}

/** A POST with no body at all, or with these fields, each of which is optional. */
function control<F extends string>(
  path: string,
  fields: readonly [F, ...F[]],
  work: (values: Values<F>) => unknown,
): Route {
  return {
    ...post(path, incoming => {
      const asked = valuesOf(incoming, fields);
      return asked.ok ? jsonAnswer(work(asked.values)) : refused(asked.why);
    }),
    accepts: 'json?',
  };
}

type Values<F extends string> = { readonly [K in F]?: string };
type Asked<F extends string> =
  | { readonly ok: true; readonly values: Values<F> }
  | { readonly ok: false; readonly why: string };

/** A misspelt field must not mean everything. */
function valuesOf<F extends string>({ body }: Incoming, fields: readonly [F, ...F[]]): Asked<F> {
  const values: { [K in F]?: string } = {};
  if (body.length === 0) return { ok: true, values };
  const json = readJson(body);
  if (!json.ok || !isRecord(json.value)) return { ok: false, why: unreadable(fields[0]) };
  for (const [key, value] of Object.entries(json.value)) {
    const field = fields.find(each => each === key);
    if (field === undefined) return { ok: false, why: unknownField(key, fields) };
    if (typeof value !== 'string') return { ok: false, why: unreadable(field) };
    values[field] = value;
  }
  return { ok: true, values };
}

function unreadable(field: string): string {
  return `The body must be empty, or JSON such as {"${field}":"…"}.`;
}

function unknownField(unknown: string, fields: readonly string[]): string {
  const meant = didYouMean(unknown, fields) || `Known fields: "${fields.join('", "')}".`;
  return `unknown field ${excerpt(unknown)}. ${meant}`;
}

function refused(why: string): Answer {
  return { status: 400, body: `${why}\n` };
}

export const CHOICE_PREFIX = '/choices/';

/** Where a runtime says what the user picked (TOOL-CHOICE). The first answer counts; a repeated one is taken all the same. */
export function choiceRoute(log: Log, questions: Questions<number, ChoiceQuestion>): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'json',
    serves: path => questions.at(path) !== undefined,
    handle: incoming => {
      const question = questions.at(incoming.target);
      const body = new Content(incoming.body);
      if (!question) return { status: 404 };
      const { choices, calls, thread, id } = question.about;
      const about = { calls: [...calls], thread };
      const request = new ServedRequest(log, incoming, { purpose: 'choice', about, body });
      const checked = validate(choiceResponseSchema, body.json.ok ? body.json.value : undefined);
      if (!checked.ok || checked.value.id !== id || checked.value.selected >= choices.length)
        return choiceRefused(request, log, question.about);
      const { selected } = checked.value;
      if (question.resolve(selected))
        log.emit({ kind: 'decided', what: 'choice', by: 'person', value: selected, ...about });
      return request.answer(200);
    },
  };
}

/** The body explains the format to a person who answers by hand; the warning informs the person who runs the mock. */
function choiceRefused(
  request: ServedRequest,
  log: Log,
  { id, choices, calls, thread }: ChoiceQuestion,
): Answer {
  const about: Concern = { calls: [...calls], thread };
  const labels = choices.map((choice, index) => `${index} ${visibleLine(choice)}`).join(', ');
  const such = JSON.stringify({ id, selected: choices.length - 1 });
  log.emit({
    kind: 'warned',
    message: 'invalid answer to a choice: it must contain the id of the call and the index of a choice',
    ...about,
  });
  return request.answer(400, {
    body: `The answer must contain the id of the call and the index of a choice, for example ${such}; choices: ${labels}\n`,
  });
}

interface ConsentRequest {
  /** Name of the toolset that asks. */
  readonly toolset: string;
  readonly operation: string;
  readonly scopes: readonly string[];
}

/** Asks a person; the answer is POSTed to the page's own URL as the form field `decision`: `granted` or `refused` (TOOL-OAUTH). */
export function consentPage({ toolset, operation, scopes }: ConsentRequest): string {
  return page(
    `Authorize ${toolset}?`,
    `<h1><b>${html(toolset)}</b> asks for your permission</h1>
<p>Permission is needed to run <code>${html(operation)}</code>.</p>
${scopeList(scopes)}
<form method="post">
<button name="decision" value="granted" class="grant">Grant</button>
<button name="decision" value="refused">Refuse</button>
</form>
<p class="note">This is the consent page of a mock tool. No account is involved, and nothing is stored.</p>`,
  );
}

export function consentDonePage(decision: Consent): string {
  const title = decision === 'granted' ? 'Permission granted' : 'Permission refused';
  return page(title, `<h1>${title}</h1>\n<p>The tool continues. You can close this page.</p>`);
}

/** One answer for a state that never was, was used, or is over: a stranger learns nothing. */
export function consentUnknownPage(): string {
  return page(
    'Nothing to decide',
    `<h1>Nothing to decide here</h1>
<p>This link is unknown, was used already, or its call is over. Call the tool again for a new one.</p>`,
  );
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
 * The only page we serve, and what it may do: show itself and send its form back to us.
 * The referrer stays with us but is not left out: without one a browser sends `Origin: null` with the form, which no guard can
 * tell from a stranger's.
 */
export const PAGE_HEADERS: Readonly<Record<string, string>> = {
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

function scopeList(scopes: readonly string[]): string {
  if (scopes.length === 0) return '<p>No scopes are requested.</p>';
  const items = scopes.map(scope => `<li><code>${html(scope)}</code></li>`);
  return `<p>Requested scopes:</p>\n<ul>\n${items.join('\n')}\n</ul>`;
}

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Foreign text: it neither becomes markup nor turns the text around it (threats, row 24). */
function html(text: string): string {
  return visibleLine(text).replace(/[&<>"']/g, character => ENTITIES[character] ?? '');
}

const PATH = '/authorize';
/** The secret is in the query: what is logged of an `auth_url` has none (threats, row 25). */
export const CONSENT_PREFIX = `${PATH}?state=`;

/**
 * The mock's own consent page: the one that a browser may visit. Its state works once (the contract, section 4).
 */
export function consentRoutes(
  log: Log,
  questions: Questions<Consent, ConsentQuestion>,
  toolset: () => string,
): Route[] {
  const page = { serves: (path: string) => path === PATH, browsers: 'same-origin' } as const;
  const serve = (incoming: Incoming, about: Concern) =>
    new ServedRequest(log, { ...incoming, target: PATH }, { purpose: 'consent', about });
  return [
    {
      ...page,
      name: 'consent page',
      method: 'GET',
      accepts: 'nothing',
      handle: incoming => {
        const question = questions.at(incoming.target);
        if (!question?.isOpen) return unknown(serve(incoming, {}));
        const { operation, scopes } = question.about;
        const request = serve(incoming, concern(question.about));
        return request.answer(200, consentHtml(consentPage({ toolset: toolset(), operation, scopes })));
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
        if (!question || !decision || !question.resolve(decision)) return unknown(serve(incoming, {}));
        const about = concern(question.about);
        const request = serve(incoming, about);
        log.emit({ kind: 'decided', what: 'consent', by: 'person', value: decision, ...about });
        return request.answer(200, consentHtml(consentDonePage(decision)));
      },
    },
  ];
}

function concern({ calls, thread }: ConsentQuestion): Concern {
  return { calls: [...calls], thread };
}

function decisionIn({ body }: Incoming): Consent | null {
  const decision = new URLSearchParams(Buffer.from(body).toString('utf8')).get('decision');
  return decision === 'granted' || decision === 'refused' ? decision : null;
}

function unknown(request: ServedRequest): Answer {
  return request.answer(410, consentHtml(consentUnknownPage()));
}

function consentHtml(body: string): Omit<Answer, 'status'> {
  return { headers: PAGE_HEADERS, body };
}

export const INVOKE_PATH = '/invoke';

/**
 * TOOL-DISCOVER. The endpoint uses the host name of the request, such as a container name. Clients may poll this: an unchanged
 * document is the same content in the log.
 */
export function discoveryRoute(log: Log, toolset: () => ToolsetFields): Route {
  let known: { readonly of: ToolsetFields; readonly endpoint: string; readonly content: Content } | null =
    null;
  return get('/.well-known/rap-toolset', (incoming): Answer => {
    const request = new ServedRequest(log, incoming, { purpose: 'discovery', about: {} });
    const of = toolset();
    const endpoint = baseFor(incoming) + INVOKE_PATH;
    if (known?.of !== of || known.endpoint !== endpoint)
      known = { of, endpoint, content: Content.ofJson({ ...of, endpoint }) };
    const { content } = known;
    return request.answerWith(content, {
      status: 200,
      headers: { 'Content-Type': 'application/json' },
      body: content.bytes,
    });
  });
}

interface NoticeParts {
  readonly log: Log;
  readonly cancel: (thread: string, id: string) => string;
  readonly closeThread: (thread: string) => void;
  /** What the toolset says at the moment. */
  readonly needsMigration: () => boolean;
}

/** What a runtime says besides invocations. Known, unknown, repeated or nonsense: 200 always (TOOL-CANCEL, TOOL-CLOSE). */
export function noticeRoutes(parts: NoticeParts): Route[] {
  const { log, cancel, closeThread } = parts;
  return [
    post('/cancel_tool_call', async incoming => {
      const { value, body } = read(cancelToolCallSchema, incoming);
      const thread = value?.thread_id;
      const calls = value ? [cancel(value.thread_id, value.tool_call_id)] : [];
      const about = { ...(thread !== undefined && { thread }), ...(calls.length > 0 && { calls }) };
      const request = new ServedRequest(log, incoming, { purpose: 'cancel', about, body });
      await keptIfPossible(log);
      return request.answer(200);
    }),
    post('/close_thread', async incoming => {
      const { value, body } = read(closeThreadSchema, incoming);
      const about = value ? { thread: value.thread_id } : {};
      const request = new ServedRequest(log, incoming, { purpose: 'close', about, body });
      if (value) closeThread(value.thread_id);
      await keptIfPossible(log);
      return request.answer(200);
    }),
    migration(parts),
  ];
}

/** 200 only once the state is here no more (TOOL-MIGRATE); what the mock keeps of a session is its thread's counts and states. */
function migration({ log, closeThread, needsMigration }: NoticeParts): Route {
  return {
    ...post('/migrate', async incoming => {
      const { value, faults, body } = read(migrateSchema, incoming);
      const about = value ? { thread: value.session_id } : {};
      const request = new ServedRequest(log, incoming, { purpose: 'migrate', about, body });
      if (!value)
        return request.answer(400, { body: `not migrated: ${faults.length} errors in the request\n` });
      closeThread(value.session_id);
      await keptIfPossible(log);
      return request.answer(200);
    }),
    serves: path => path === '/migrate' && needsMigration(),
  };
}

/** Waits for the journal; its failures are reported elsewhere. */
async function keptIfPossible(log: Log): Promise<void> {
  await log.kept().catch(() => {});
}

function read<S extends Parameters<typeof validate>[0]>(schema: S, { body: bytes }: Incoming) {
  const body = new Content(bytes);
  const checked = validate(schema, body.json.ok ? body.json.value : undefined);
  return { body, value: checked.ok ? checked.value : null, faults: checked.ok ? [] : checked.faults };
}

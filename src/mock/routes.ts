import type * as z from 'zod/mini';
import { Content } from '../events/content.js';
import type { Body } from '../events/events.js';
import type { Log } from '../events/log.js';
import { type Route, routeAt } from '../http/route.js';
import { choiceResponseSchema, NOTICES, type Notice } from '../protocol/invocation.js';
import { DISCOVERY_PATH } from '../protocol/toolset.js';
import { validate } from '../protocol/validate.js';
import { isRecord } from '../util/values.js';
import { visibleLine } from '../util/visible.js';
import { consentPage, donePage, PAGE_HEADERS, UNKNOWN_PAGE } from './consent-page.js';
import type { ChoiceQuestion, Consent } from './conversation.js';
import { answerJson, type Intake } from './intake.js';
import type { Mock } from './mock.js';
import type { CallReference } from './open-call.js';
import { RapQuestions } from './rap-wire.js';
import type { Responder } from './responder.js';

export function rapRoutes(
  { log, openCalls, responder }: Mock,
  intake: Intake,
  questions: RapQuestions,
): Route[] {
  return [
    intake.route,
    discoveryRoute(intake, responder),
    notice(log, intake, 'cancel', NOTICES.cancel, {
      about: ({ thread_id, tool_call_id }) => ({
        thread: thread_id,
        calls: [intake.repeats.keyOf(thread_id, tool_call_id)],
      }),
      apply: ({ calls: [key = ''] = [] }) => openCalls.cancel(key),
    }),
    notice(log, intake, 'close', NOTICES.close, {
      about: ({ thread_id }) => ({ thread: thread_id }),
      apply: ({ thread = '' }) => intake.closeThread(thread),
    }),
    {
      // the state must be migrated before the 200 (TOOL-MIGRATE); a mock keeps counts and states of threads
      ...notice(log, intake, 'migrate', NOTICES.migrate, {
        about: ({ session_id }) => ({ thread: session_id }),
        apply: ({ thread = '' }) => intake.closeThread(thread),
        refusal: faults => `not migrated: ${faults.length} errors in the request\n`,
      }),
      serves: path => path === NOTICES.migrate.path && responder.toolset.needsMigration,
    },
    choiceRoute(log, questions, intake),
    ...consentRoutes(log, questions, intake, responder),
  ];
}

/**
 * Serves the toolset (TOOL-DISCOVER). The endpoint uses the host name of the request, such as a container name. Clients may poll it,
 * so an unchanged document is logged as the same content.
 */
function discoveryRoute(intake: Intake, responder: Responder): Route {
  let known: { readonly of: unknown; readonly endpoint: string; readonly content: Body } | null = null;
  return routeAt(DISCOVERY_PATH, 'GET', 'nothing', incoming => {
    const request = intake.request(incoming, 'discovery');
    return intake.answering('discovery', request, async () => {
      const of = responder.document;
      const endpoint = incoming.base + intake.route.name;
      if (!known || known.of !== of || known.endpoint !== endpoint)
        known = { of, endpoint, content: Content.ofJson(withEndpoint(of, endpoint)) };
      return answerJson(request, known.content);
    });
  });
}

function withEndpoint(document: unknown, endpoint: string): unknown {
  const isMissing = isRecord(document) && !Object.hasOwn(document, 'endpoint');
  return isMissing ? { ...document, endpoint } : document;
}

interface NoticeHandling<Value> {
  readonly about: (value: Value) => CallReference;
  readonly apply: (about: CallReference) => void;
  /** The body of a 400 for a malformed notice; by default it is ignored. */
  readonly refusal?: (faults: readonly string[]) => string;
}

/** Answers 200 to every notice: known, unknown, repeated or malformed (TOOL-CANCEL, TOOL-CLOSE). */
function notice<Schema extends z.ZodMiniType>(
  log: Log,
  intake: Intake,
  purpose: Notice['kind'],
  { path, body: schema }: { readonly path: string; readonly body: Schema },
  { about: concern, apply, refusal }: NoticeHandling<z.output<Schema>>,
): Route {
  return routeAt(path, 'POST', 'json', (incoming, bytes) => {
    const { checked, body } = read(schema, bytes);
    const about = checked.ok ? concern(checked.value) : {};
    const request = intake.request(incoming, purpose, { body, ...about });
    const answer = async () => {
      if (checked.ok) apply(about);
      else if (refusal) return request.answer(400, { body: refusal(checked.faults) });
      await log.stored().catch(() => {}); // write errors are reported elsewhere
      return request.answer(200);
    };
    return intake.answering(purpose, request, answer, about);
  });
}

function read<Schema extends z.ZodMiniType>(schema: Schema, bytes: Uint8Array) {
  const body = new Content(bytes);
  return { body, checked: validate(schema, body.json.ok ? body.json.value : undefined) };
}

/** Receives the user's choice (TOOL-CHOICE). The first answer counts; a repeated one is accepted and ignored. */
function choiceRoute(log: Log, questions: RapQuestions, intake: Intake): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'json',
    serves: path => questions.choices.at(path) !== undefined,
    handle: (incoming, bytes) => {
      const { path } = incoming;
      const question = questions.choices.at(path);
      if (!question) return { status: 404 };
      const { choices, id, about, search } = question.about;
      const { checked, body } = read(choiceResponseSchema, bytes);
      const request = intake.request(incoming, 'choice', { body, ...about });
      const refuse = (status: number, why: string) =>
        request.answer(status, { body: why }, { body: new Content(Buffer.from(why)) });
      if (incoming.target !== path + search)
        return refuse(404, 'The URL must be the response_url of the question, with its query.\n');
      const answer = async () => {
        if (!checked.ok || checked.value.id !== id || checked.value.selected >= choices.length) {
          const message =
            'invalid answer to a choice: it must contain the id of the call and the index of a choice';
          log.emit({ kind: 'warned', message, ...about });
          return refuse(400, choiceHelp(question.about));
        }
        const { selected } = checked.value;
        if (question.resolve(selected))
          log.emit({ kind: 'decided', what: 'choice', by: 'person', value: selected, ...about });
        return request.answer(200);
      };
      return intake.answering('choice', request, answer, about);
    },
  };
}

function choiceHelp({ id, choices }: ChoiceQuestion): string {
  const labels = choices.map((choice, index) => `${index} ${visibleLine(choice)}`).join(', ');
  const example = JSON.stringify({ id, selected: choices.length - 1 });
  const rule = 'The answer must contain the id of the call and the index of a choice: {id, selected}';
  return `${rule}\nFor example ${example}; choices: ${labels}\n`;
}

/** The mock's own consent page, the only page for browsers. Each state works once (TOOL-OAUTH). */
function consentRoutes(log: Log, questions: RapQuestions, intake: Intake, responder: Responder): Route[] {
  const handle: Route['handle'] = (incoming, body) => {
    const question = questions.consents.at(incoming.target);
    const isForm = incoming.method === 'POST';
    const decision = isForm ? decisionIn(body) : null;
    const isValid = isForm ? decision !== null && question?.resolve(decision) : question?.isOpen;
    const asked = isValid ? question?.about : undefined;
    const about = asked?.about ?? {};
    const request = intake.request(incoming, 'consent', { ...about, url: RapQuestions.consentPath });
    const show = (status: number, body: string) => request.answer(status, { headers: PAGE_HEADERS, body });
    if (!asked) return show(410, UNKNOWN_PAGE);
    if (decision === null)
      return show(200, consentPage(responder.toolset.name, asked.operation, asked.scopes));
    log.emit({ kind: 'decided', what: 'consent', by: 'person', value: decision, ...about });
    return show(200, donePage(decision));
  };
  const page = {
    serves: (path: string) => path === RapQuestions.consentPath,
    browsers: 'same-origin',
    handle,
  } as const;
  return [
    { ...page, name: 'consent page', method: 'GET', accepts: 'nothing' },
    { ...page, name: 'consent', method: 'POST', accepts: 'form' },
  ];
}

function decisionIn(body: Uint8Array): Consent | null {
  const decision = new URLSearchParams(Buffer.from(body).toString('utf8')).get('decision');
  return decision === 'granted' || decision === 'refused' ? decision : null;
}

import type { Log } from '../../exchange/log.js';
import type { Answer, Incoming, Route } from '../../transport/server.js';
import type { Consent, ConsentQuestion } from '../conversation/people.js';
import type { Questions } from '../conversation/questions.js';
import { type Concern, ServedRequest } from '../intake/served-request.js';
import { consentDonePage, consentPage, consentUnknownPage, PAGE_HEADERS } from './consent-page.js';

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
        return request.answer(200, html(consentPage({ toolset: toolset(), operation, scopes })));
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
        return request.answer(200, html(consentDonePage(decision)));
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
  return request.answer(410, html(consentUnknownPage()));
}

function html(body: string): Omit<Answer, 'status'> {
  return { headers: PAGE_HEADERS, body };
}

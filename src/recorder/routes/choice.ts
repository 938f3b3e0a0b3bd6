import type { Incoming, Reply, Route } from '../../transport/server.js';
import { Arrival, contentOf } from '../arrival.js';
import { passOn } from '../pass-on.js';
import { type Office, pathOf } from './office.js';

export const CHOICE_PREFIX = '/choices/';

/** What the user picked goes on to where the tool asked (RT-CHOICE). */
export function choiceRoute(office: Office): Route {
  return {
    name: 'choice',
    method: 'POST',
    accepts: 'anything',
    serves: path => office.questions.resolve(path) !== undefined,
    handle: incoming => receive(office, incoming),
  };
}

async function receive({ desk, tool, questions }: Office, incoming: Incoming): Promise<Reply> {
  const question = questions.resolve(pathOf(incoming.target));
  if (!question) return { status: 404 };
  const { call, responseUrl: url } = question;
  const body = contentOf(incoming);
  const arrival = new Arrival(
    desk,
    incoming,
    { purpose: 'choice', calls: [call.key], thread: call.thread },
    body,
  );
  return passOn(desk, arrival, { url, body, origin: tool.origin });
}

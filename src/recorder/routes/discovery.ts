import { Content } from '../../exchange/content.js';
import type { Incoming, Reply, Route } from '../../transport/server.js';
import { Arrival } from '../arrival.js';
import { answerAs, failed } from '../pass-on.js';
import { flatHeaders, passedHeaders } from '../passed-headers.js';
import { withString } from '../rewrite.js';
import { endpointIn } from '../tool-address.js';
import { INVOKE_PATH } from './invocation.js';
import { baseFor, type Office } from './office.js';

export const DISCOVERY_PATH = '/.well-known/rap-toolset';

/** The tool's own toolset, with our endpoint in it; whatever else it answers is passed on as it is (TOOL-DISCOVER). */
export function discoveryRoute({ desk, tool }: Office): Route {
  const handle = async (incoming: Incoming): Promise<Reply> => {
    const arrival = new Arrival(desk, incoming, { purpose: 'discovery' }, undefined);
    try {
      const headers = passedHeaders(flatHeaders(incoming.headers));
      const answer = await tool.ask({ headers, signal: arrival.gone });
      const document = new Content(answer.body);
      const isToolset = answer.status === 200 && endpointIn(document) !== null;
      const endpoint = baseFor(incoming) + INVOKE_PATH;
      return answerAs(arrival, answer, isToolset ? withString(document, 'endpoint', endpoint) : undefined);
    } catch (error) {
      return failed(arrival, error);
    }
  };
  return {
    name: 'discovery',
    method: 'GET',
    accepts: 'nothing',
    serves: path => path === DISCOVERY_PATH,
    handle,
  };
}

import { cancelToolCallSchema, closeThreadSchema } from '../../protocol/notices.js';
import { validate } from '../../protocol/validate.js';
import { excerpt } from '../../text/excerpt.js';
import type { Evidence } from '../evidence/evidence.js';
import { endedAt, type Leg, statusOf } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { broken, held, lacking, type Observation } from '../observation.js';
import type { Rule } from '../rule.js';
import { withFaults } from '../tool/shared/faults.js';

/** RT-NOTIFY: a notice has the right fields, is sent once, and not again where it failed. */
export const notifiesOnce: Rule = {
  id: 'RT-NOTIFY',
  absent: 'no notice was sent',
  observe: ({ closes, cancels }: Evidence) => {
    const failed = new Map<string, Leg>();
    return [
      ...closes.map(notice => faultOf(notice, 'close_thread', closeThreadSchema) ?? onNotice(notice, failed)),
      ...cancels.map(
        notice => faultOf(notice, 'cancel_tool_call', cancelToolCallSchema) ?? onNotice(notice, failed),
      ),
    ];
  },
};

type NoticeSchema = typeof closeThreadSchema | typeof cancelToolCallSchema;

/** What is wrong with a notice itself; null where nothing is. */
function faultOf(notice: Leg, name: string, schema: NoticeSchema): Observation | null {
  const { request } = notice;
  if (request.method !== 'POST')
    return broken(`a ${name} notice is a ${excerpt(request.method)}, not a POST`, [notice]);
  if (isBodyLost(request)) return null;
  const read = validate(schema, request.body?.json.ok ? request.body.json.value : undefined);
  const tell = request.body ? broken : lacking;
  return read.ok ? null : tell(`the fields of a ${name} notice are wrong`, [notice], withFaults(read.faults));
}

/** @param failures the first notice that failed, by where it went and what it says */
function onNotice(notice: Leg, failures: Map<string, Leg>): Observation {
  const { url, body } = notice.request;
  const name = `${url} ${body?.sha256 ?? ''}`;
  const failed = failures.get(name);
  if (!failed) {
    if (statusOf(notice) !== 200) failures.set(name, notice);
    return held([notice]);
  }
  const tell = endedAt(failed) === null ? lacking : broken;
  return tell('a notice that failed was sent again', [failed, notice]);
}

import { Content } from '../../exchange/content.js';
import type { Log } from '../../exchange/log.js';
import { cancelToolCallSchema, closeThreadSchema, migrateSchema } from '../../protocol/notices.js';
import { validate } from '../../protocol/validate.js';
import type { Incoming, Route } from '../../transport/server.js';
import { ServedRequest } from '../intake/served-request.js';
import { post } from './route.js';

export interface NoticeParts {
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
      if (!value) return request.answer(400, { body: `not moved: ${faults.length} faults in the request\n` });
      closeThread(value.session_id);
      await keptIfPossible(log);
      return request.answer(200);
    }),
    serves: path => path === '/migrate' && needsMigration(),
  };
}

/** So that a restart does not undo it. A disk that fails is told of elsewhere. */
async function keptIfPossible(log: Log): Promise<void> {
  await log.kept().catch(() => {});
}

function read<S extends Parameters<typeof validate>[0]>(schema: S, { body: bytes }: Incoming) {
  const body = new Content(bytes);
  const checked = validate(schema, body.json.ok ? body.json.value : undefined);
  return { body, value: checked.ok ? checked.value : null, faults: checked.ok ? [] : checked.faults };
}

import { migrateSchema } from '../../protocol/notices.js';
import { validate } from '../../protocol/validate.js';
import { toolsetsAt } from '../evidence/discoveries.js';
import type { Evidence } from '../evidence/evidence.js';
import { type Leg, statusOf } from '../evidence/leg.js';
import { isBodyLost } from '../evidence/lost-body.js';
import { broken, held, type Observation, unseen } from '../observation.js';
import type { Rule } from '../rule.js';

/** TOOL-MIGRATE: where the toolset says that it needs it, there is a `/migrate`, and its 200 means that the state has moved. */
export const migrates: Rule = {
  id: 'TOOL-MIGRATE',
  absent: 'the toolset needs no migration, or none was asked for',
  observe: evidence =>
    evidence.migrations.filter(migration => isNeeded(migration, evidence)).map(onMigration),
};

function isNeeded({ request }: Leg, { discoveries }: Evidence): boolean {
  return toolsetsAt(discoveries, request.at).some(({ needsMigration }) => needsMigration);
}

function onMigration(migration: Leg): Observation {
  const status = statusOf(migration);
  if (status === null) return unseen('/migrate did not answer', [migration]);
  if (status === 405 || (status === 404 && !saysWhy(migration)))
    return broken(`there is no /migrate: it answered ${status}`, [migration]);
  if (status === 200 && isVain(migration))
    return broken('/migrate answered 200 to what cannot succeed', [migration], {
      expected: '4xx or 5xx',
      actual: '200',
    });
  return held([migration], `/migrate answered ${status}`);
}

/** It says not both what is to move and where to. What was not kept may have said so. */
function isVain({ request }: Leg): boolean {
  if (isBodyLost(request)) return false;
  const { body } = request;
  return !validate(migrateSchema, body?.json.ok ? body.json.value : undefined).ok;
}

/** A session that nobody knows may be answered with 404, too; a server's own page for what it does not serve does not tell of it. */
function saysWhy({ response }: Leg): boolean {
  const said = response?.body ? Buffer.from(response.body.bytes.subarray(0, 4_096)).toString('utf8') : '';
  return /session|destination|migration|thread/i.test(said);
}

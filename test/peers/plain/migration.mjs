const MIGRATIONS = {
  moves: () => ({ status: 200, text: '' }),
  fails: session => ({ status: 409, text: `Session ${session} is busy. Try again in 5 seconds.` }),
};
const { MIGRATION } = process.env;
if (MIGRATION && !Object.hasOwn(MIGRATIONS, MIGRATION))
  throw new Error(`MIGRATION=${MIGRATION} is not known`);

/** What the toolset says of it; null where nothing can be moved. */
export const migration = MIGRATION ? { needsMigration: true } : null;

export function migrate(body) {
  if (typeof body?.session_id !== 'string' || typeof body.destination_url !== 'string')
    return { status: 400, text: 'session_id and destination_url are required.' };
  return MIGRATIONS[MIGRATION](body.session_id);
}

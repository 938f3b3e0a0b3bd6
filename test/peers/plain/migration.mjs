const MIGRATIONS = {
  moves: () => ({ status: 200, text: '' }),
  fails: session => ({ status: 409, text: `Session ${session} is busy. Try again in 5 seconds.` }),
};

export function migrationOf(name) {
  if (name && !Object.hasOwn(MIGRATIONS, name)) throw new Error(`MIGRATION=${name} is not known`);
  return {
    /** What the toolset says of it; null where nothing can be moved. */
    migration: name ? { needsMigration: true } : null,
    migrate: body => migrate(body, MIGRATIONS[name]),
  };
}

function migrate(body, move) {
  if (typeof body?.session_id !== 'string' || typeof body.destination_url !== 'string')
    return { status: 400, text: 'session_id and destination_url are required.' };
  return move(body.session_id);
}

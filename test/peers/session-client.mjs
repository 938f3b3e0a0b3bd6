/*
 * A client of agent sessions on fetch alone; it goes about it as the vendor's run helper does: reads what is new, then the
 * status; while results are awaited it runs the calls side by side and posts all of them in one body, bare for a single one.
 *
 *   session-client.mjs [BASE_URL [SESSION_ID | new]]
 *
 * The base is SESSION_URL unless given, the key API_KEY, the session SESSION_ID; `new`, or none, creates one.
 * WAIT_SECONDS is how long a question for news may wait, 20 by default. Prints one line,
 * { session, status, answer, error, events, journal: [{ method, path, body, status, answer }] }; exit 1 where it failed.
 */
import { runSession } from './client/session.mjs';

const { SESSION_URL, SESSION_ID, API_KEY, WAIT_SECONDS } = process.env;
const [base = SESSION_URL, asked = SESSION_ID] = process.argv.slice(2);
const outcome = await runSession({ base, asked, key: API_KEY, waitSeconds: WAIT_SECONDS });
if (outcome.error !== null) process.exitCode = 1;
process.stdout.write(`${JSON.stringify(outcome)}\n`);

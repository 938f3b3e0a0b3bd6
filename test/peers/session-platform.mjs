/*
 * The platform's side of the agent-session API (seed 001), for clients. The script is JSON, in `SCRIPT` or in the file that is named:
 *   key       the bearer token; without one no one is asked
 *   session   id of its one session: session_1 by default
 *   events    published first, as they are
 *   rounds    [{ calls: [{ tool_name, args, id, … }] }]: the calls of each wait, published as they are
 *   end       { status: "completed", answer, error }
 *   posts     what the n-th POST of results meets, from "1": "lose" (applied, no answer), "drop" (not applied, no answer),
 *             "end" (the session is interrupted first), "steal" (someone else settles the first pending call before), or
 *             { status, headers, body, raw, afterMs } (not applied; without a status it is only late),
 *             or { drop: true, statuses: [...] } (not applied, no answer, the session says so of its status next, and publishes: [...])
 *   gets      what the first GETs meet, before they work: a status, the same object, or "drop" for no answer; null for nothing
 *   page      so many events at most in one answer
 *   settled   status for a call that is not pending: 422 by default
 *   maxBody   bytes; larger bodies get 413
 *   hasty     answers a long poll at once
 *   deaf      answers every question for changes from the first event on
 *   extra     members of changes beside its own
 *   echoes    gives the bearer token back, in a header of every answer
 * Creating a session gives that one. A batch is atomic. `GET /__log` shows all that came, as in README.md, with the `status`
 * it was answered; `GET /__session` shows { status, settled: [what was applied, in order], pending }.
 */
import { readFileSync } from 'node:fs';
import { serve } from './kit.mjs';
import { platformFor } from './platform/platform.mjs';

await serve(platformFor(JSON.parse(process.env.SCRIPT ?? readFileSync(process.argv[2], 'utf8'))));

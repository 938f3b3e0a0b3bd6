import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { python } from './kits.mjs';
import { openApi } from './openapi.mjs';
import { runProgram } from './verdict.mjs';

/** Schemathesis in front of `session mock`, with the documented API: no 5xx, and no answer that the document does not have. */

const FIRST_SESSION = '00000000-0000-4000-8000-000000000001';

/** A session that goes on: a later result of its call is accepted, too. */
const SCRIPT = {
  version: 1,
  session: {
    rounds: [{ calls: [{ tool_name: 'lookup_order', args: { order_id: 'A1' }, id: 'call_1' }] }],
    end: 'idle',
  },
  switches: { settled: 202 },
};

export const API_CHECKS = [{ name: 'Schemathesis', kit: 'python', run: checkApi }];

async function checkApi() {
  const folder = await mkdtemp(join(tmpdir(), 'protocol-cli-peers-'));
  try {
    const [script, document, report] = ['script', 'openapi', 'report'].map(name =>
      join(folder, `${name}.json`),
    );
    await writeFile(script, JSON.stringify(SCRIPT));
    await writeFile(document, JSON.stringify(await openApi({ id: FIRST_SESSION, webhook_id: 'WEBHOOK' })));
    const command = `${python('sessions/check_api.py')} '${document}' '${report}'`;
    const { stdout, stderr } = await runProgram(['session', 'mock', script, '-q', '--', 'sh', '-c', command]);
    const text = await readFile(report, 'utf8').catch(() => assert.fail(stdout + stderr));
    const { complete, failures, errors, operations, test_cases: cases } = JSON.parse(text);
    assert.deepEqual({ complete, failures, errors }, { complete: true, failures: [], errors: [] }, stdout);
    assert.equal(operations.tested, operations.total, stdout);
    assert.ok(cases.generated > 1_000, `${cases.generated} cases`);
  } finally {
    await rm(folder, { recursive: true });
  }
}

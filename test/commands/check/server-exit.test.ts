import { readFile } from 'node:fs/promises';
import { describe, expect, test } from 'vitest';
import { temporaryFolder } from '../../e2e/support/folder.js';
import { runHere, startHere } from '../../e2e/support/in-process.js';
import { publishedSchema } from '../../support/published-schema.js';

/** Serves its toolset, and exits at the first invocation. */
const FALLS_OVER = `
import { createServer } from 'node:http';
const operation = { name: 'op', description: '', inputSchema: { type: 'object' }, annotations: { readOnly: true } };
const server = createServer((request, response) => {
  if (request.method !== 'GET') { console.error('boom at line 5'); process.exit(3); }
  const endpoint = 'http://127.0.0.1:' + server.address().port + '/invoke';
  response.end(JSON.stringify({ name: 'falls-over', endpoint, tools: [operation] }));
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

test('row 25: a server that exits during the check is named as it was given, without secrets', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', FALLS_OVER);
  const command = ['--command', `TOKEN="s3cr3t 1" node '${script}' --key s3cr3t`];
  const { status, stdout } = await runHere([
    ...['check', ...command, '--only', 'TOOL-ACK', '--probe-timeout', '400ms'],
  ]);
  expect(status).toBe(1);
  expect(stdout).toMatch(/^.*\n\n✗ the server exited with status 3 during `op`\n {4}boom at line 5\n/);
  expect(stdout).toContain(`check --command TOKEN=[redacted] node '${script}' --key [redacted]\n`);
  expect(stdout).not.toContain('s3cr3t');
});

/** Works, but exits on input that it cannot parse. */
const FALLS_OVER_JUNK = FALLS_OVER.replace(
  /if \(request.method !== 'GET'\) .*/,
  `let body = '';
  if (request.method !== 'GET')
    return request.on('data', data => (body += data)).on('end', () => {
      if (request.url === '/invoke') JSON.parse(body).operation.trim();
      response.end();
    });`,
);

test.each([
  ['before it acknowledges the payload', FALLS_OVER_JUNK, / → \w+: ECONNRESET after \S+\n/],
  [
    'after it has acknowledged the payload',
    FALLS_OVER_JUNK.replace(
      "if (request.url === '/invoke') JSON.parse(body).operation.trim();",
      "if (body === 'null') setImmediate(() => process.exit(3));",
    ),
    /POST \S+ → 200 after \S+\n +│ +null\n/,
  ],
])('a tool that exits on a malformed payload fails TOOL-MALFORMED, %s', async (_, code, evidence) => {
  await using folder = await temporaryFolder();
  const script = await folder.write('tool.mjs', code);
  const { status, stdout } = await runHere([
    ...['check', '--command', `node ${script}`, '--only', 'TOOL-MALFORMED', '--probe-timeout', '400ms'],
  ]);
  expect(stdout).toMatch(/^.*\n\n✗ the server exited with status \d after a malformed payload\n/);
  expect(stdout).toContain('fails     TOOL-MALFORMED (SHOULD)');
  expect(stdout).toMatch(evidence);
  expect(status).toBe(1);
});

/** Works, except for what it does with a call of `die` and with a notice. */
const mortal = ({ onDie = '', onNotice = '', onRefusal = '', onText = '' }) => `
import { createServer } from 'node:http';
const inputSchema = ${onText === '' ? "{ type: 'object' }" : "{ type: 'object', properties: { text: { type: 'string' } }, required: ['text'] }"};
const operation = name => ({ name, description: '', inputSchema, annotations: { readOnly: true } });
const server = createServer(async (request, response) => {
  let body = '';
  for await (const chunk of request) body += chunk;
  if (request.method === 'GET') {
    const endpoint = 'http://' + request.headers.host + '/invoke';
    const tools = ['echo', 'die', 'list'].map(operation);
    response.setHeader('content-type', 'application/json');
    return response.end(JSON.stringify({ name: 'mortal', endpoint, tools }));
  }
  if (request.url !== '/invoke') {
    ${onNotice}
    return response.end();
  }
  let call = {};
  try { call = JSON.parse(body) ?? {}; } catch {}
  const { operation: name, callback_url: url, id, call_id, group_id } = call;
  const post = async text => {
    const message = { type: 'tool_result', id, group_id, text, ...(typeof call_id === 'string' && { call_id }) };
    const headers = { 'content-type': 'application/json' };
    const answer = await fetch(url, { method: 'POST', headers, body: JSON.stringify(message) }).catch(() => null);
    if (answer && answer.status >= 400) { ${onRefusal} }
  };
  const fail = () => { throw new TypeError('no user of ' + name); };
  if (name === 'die') { ${onDie} }
  ${onText}
  if (!response.writableEnded) response.end();
  const isKnown = ['echo', 'die', 'list'].includes(name) && typeof call.arguments === 'object' && !Array.isArray(call.arguments);
  if (url) await post(isKnown ? 'done' : 'Error: unknown operation');
});
server.listen(0, '127.0.0.1', () => console.log(JSON.stringify({ port: server.address().port })));
`;

interface JsonReport {
  readonly verdict: string;
  readonly exit?: object;
  readonly checks: readonly {
    readonly id: string;
    readonly standing: string;
    readonly byExit?: true;
    readonly calls?: readonly { readonly operation: string | null }[];
  }[];
}

/** Checks a tool, and reads its report as a person, on GitHub, in junit and as data. */
async function checkMortal(code: Parameters<typeof mortal>[0], ...options: string[]) {
  await using folder = await temporaryFolder();
  const command = `node ${await folder.write('tool.mjs', mortal(code))}`;
  const reporters = ['human', ...['github', 'junit', 'json'].map(each => `${each}:${folder.file(each)}`)];
  const { status, stdout, stderr } = await runHere([
    ...['check', '--command', command, '--probe-timeout', '2s', ...options],
    ...reporters.flatMap(each => ['--reporter', each]),
  ]);
  const [github = '', junit = '', json = ''] = await Promise.all(
    ['github', 'junit', 'json'].map(name => readFile(folder.file(name), 'utf8')),
  );
  const report: JsonReport = JSON.parse(json);
  expect(publishedSchema('check-report').faultsOf(report)).toEqual([]);
  return { status, stdout, stderr, github, junit, report };
}

/** The probes of some rules suffice, and each server that is started takes its time. */
const only = (...ids: string[]) => ids.flatMap(id => ['--only', id]);

const failuresIn = ({ checks }: JsonReport) =>
  checks.filter(({ standing }) => standing === 'failed' || standing === 'warned');

describe.concurrent('a tool whose server exits during one operation', () => {
  test.each([
    ['before it acknowledges the call', 'fail();', 'during `die`', 'TOOL-ACK'],
    [
      '50 ms after it acknowledged the call',
      'response.end(); return setTimeout(fail, 50);',
      'during `die`',
      'TOOL-ALWAYS',
    ],
    [
      '50 ms after its result',
      'response.end(); await post("done"); return setTimeout(fail, 50);',
      'after a callback of `die` was answered with 200',
      null,
    ],
  ])('%s: the report begins with the exit, and accuses no other operation', async (_, onDie, when, rule) => {
    const { status, stdout, stderr, github, junit, report } = await checkMortal({ onDie });
    const message = `the server exited with status 1 ${when}`;
    expect(status).toBe(1);
    expect(stdout.split('\n').slice(1, 3)).toEqual(['', `✗ ${message}`]);
    expect(stdout).toMatch(/\n {4}TypeError: no user of die\n {8}at /);
    expect(stdout + stderr).not.toContain('␊');
    expect(report).toMatchObject({ verdict: 'failed', exit: { message, isRepeated: true } });
    const failures = failuresIn(report);
    expect(failures.map(({ id }) => id)).toEqual(rule === null ? [] : [rule]);
    expect(failures.flatMap(({ calls = [] }) => calls.map(({ operation }) => operation))).toEqual(
      rule === null ? [] : ['die'],
    );
    const hidden = report.checks.filter(({ standing }) => standing === 'could-not-run');
    expect(hidden.length).toBeGreaterThan(5);
    expect(hidden.every(({ byExit }) => byExit)).toBe(true);
    expect(stdout).not.toContain('Could not run');
    expect(stdout).toMatch(/^ {4}to do {5}Catch the exception, .*: the server must not exit\.$/m);
    expect(stdout.includes(` failed (${rule})`)).toBe(rule !== null);
    expect(stdout).toContain(`not run   ${hidden.map(({ id }) => id).join(', ')}\n`);
    expect(github.match(/^::(?:error|warning) .*/gm)).toHaveLength(1);
    expect(github).toMatch(new RegExp(`^::error title=${message}::.*%0ATypeError: no user of die%0A`));
    expect(junit).toContain('failures="1" errors="0"');
    expect(junit.match(/<(?:failure|error) [^>]*>/g)).toEqual([`<failure type="exit" message="${message}">`]);
  });

  test.each([
    ['with status 0', 'process.exit(0)', 'exited with status 0'],
    ['by a signal', 'process.kill(process.pid, "SIGKILL")', 'exited with status 137 \\(SIGKILL\\)'],
  ])('%s: the report begins with the exit', async (_, end, how) => {
    const onDie = `response.end(); return setTimeout(() => ${end}, 50);`;
    const { status, stdout } = await checkMortal({ onDie });
    expect(status).toBe(1);
    expect(stdout).toMatch(
      new RegExp(
        `^.*\\n\\n✗ the server ${how} during \`die\`\\n {4}(?:it wrote nothing to stderr|Killed)\\n`,
      ),
    );
  });

  test('a text in valid arguments, after the result of the call: no other call is accused', async () => {
    const onText =
      'if (name === "echo" && String(call.arguments?.text).includes("; --")) { response.end(); await post("done"); fail(); }';
    const { status, stdout, report } = await checkMortal({ onText }, ...only('TOOL-ACK', 'TOOL-ALWAYS'));
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^.*\n\n✗ the server exited with status 1 after a callback of `echo` was answered with 200\n/,
    );
    expect(stdout).toMatch(
      /│ POST \S+ → 200 after \S+\n +│ +\{"operation":"echo", "arguments":\{"text":"'; -- hostile"\}/,
    );
    expect(failuresIn(report).flatMap(({ id, byExit }) => (byExit ? [id] : []))).toEqual([]);
  });

  test('a refused callback: TOOL-RETRY fails, and no operation', async () => {
    const { status, stdout, report } = await checkMortal({ onRefusal: 'if (answer.status === 400) fail();' });
    expect(status).toBe(1);
    expect(stdout).toMatch(
      /^.*\n\n✗ the server exited with status 1 after a callback of `echo` was answered with 400\n/,
    );
    expect(failuresIn(report).map(({ id }) => id)).toEqual(['TOOL-RETRY']);
  });

  test('a notice: the rule of the notice fails', async () => {
    const { stdout, report } = await checkMortal({
      onNotice: 'if (request.url === "/cancel_tool_call") fail();',
    });
    expect(stdout).toMatch(/^.*\n\n✗ the server exited with status 1 after POST \/cancel_tool_call\n/);
    expect(failuresIn(report).flatMap(({ id, byExit }) => (byExit ? [id] : []))).toEqual(['TOOL-CANCEL']);
  });
});

test.each([
  ['of its own fails the check', 'fail()', 1, 'failed', '✗', 'failure'],
  ['by a signal may be a disturbance', "process.kill(process.pid, 'SIGTERM')", 3, 'incomplete', '?', 'error'],
] as const)(
  'an exit that does not happen again accuses no rule; one %s',
  async (_, end, expected, verdict, mark, element) => {
    await using folder = await temporaryFolder();
    const once = `const fs = await import('node:fs');
    if (!fs.existsSync('${folder.file('seen')}')) {
      fs.writeFileSync('${folder.file('seen')}', '');
      response.end();
      return setTimeout(() => ${end}, 50);
    }`;
    const { status, stdout, github, junit, report } = await checkMortal(
      { onDie: once },
      ...only('TOOL-ACK', 'TOOL-ALWAYS'),
    );
    expect(status).toBe(expected);
    expect(stdout.split('\n')[2]).toMatch(/^. the server (?:exited with status|was ended by) .* during /);
    expect(stdout.split('\n')[2]?.[0]).toBe(mark);
    expect(stdout).toMatch(/^ {4}to do {5}.* It may depend on earlier calls/m);
    expect(stdout).toMatch(/repeated {2}no: \d+ new servers with one call or probe each, .* did not exit\n/);
    expect(report).toMatchObject({ verdict, exit: { isRepeated: false } });
    expect(failuresIn(report)).toEqual([]);
    expect(github.match(/^::error /gm)).toHaveLength(1);
    expect(junit.match(/<(?:failure|error) /g)).toEqual([`<${element} `]);
  },
);

test('-q leaves out what the exit kept from being run', async () => {
  const { stdout } = await checkMortal({ onDie: 'response.end(); return setTimeout(fail, 50);' }, '-q');
  expect(stdout).toMatch(/^.*\n\n✗ the server exited with status 1 during `die`\n/);
  expect(stdout).not.toContain('not run ');
});

test('the saved check is judged as it was live', async () => {
  await using folder = await temporaryFolder();
  const script = await folder.write(
    'tool.mjs',
    mortal({ onDie: 'response.end(); return setTimeout(fail, 50);' }),
  );
  const saved = folder.file('check.ndjson');
  const live = await runHere(['check', '--command', `node ${script}`, '--save', saved]);
  const later = await runHere(['check', saved, '--side', 'tool']);
  const bodyOf = (text: string) =>
    text
      .split('\n')
      .slice(1)
      .join('\n')
      .replaceAll(/\(protocol-cli.*\)/g, '');
  expect(bodyOf(later.stdout)).toBe(bodyOf(live.stdout));
  expect(later.status).toBe(1);
});

/** Serves its toolset, answers nothing, and writes to stderr. */
const NOISY = FALLS_OVER.replace(
  /if \(request.method !== 'GET'\) .*/,
  `if (request.method !== 'GET') {
    console.error('got a ' + request.method);
    return response.end();
  }`,
);
const ONE_RULE = ['--only', 'TOOL-ACK', '--probe-timeout', '200ms'];

test('-v shows the messages and the server’s stderr', async () => {
  await using folder = await temporaryFolder();
  const command = `node ${await folder.write('tool.mjs', NOISY)}`;
  const { stderr } = await runHere(['check', '--command', command, ...ONE_RULE, '-v']);
  expect(stderr).toContain('server: got a POST\n');
  expect(stderr).toMatch(/^> POST http:\/\/127\.0\.0\.1:\d+\/invoke$/m);
  const quiet = await runHere(['check', '--command', command, ...ONE_RULE]);
  expect(quiet.stderr).not.toContain('got a POST');
});

test('--watch checks again with a new server when its file changes', async () => {
  await using folder = await temporaryFolder();
  const file = await folder.write('tool.mjs', NOISY);
  const check = startHere(['check', '--command', `node ${file}`, ...ONE_RULE, '--watch']);
  await check.prints(/waiting for a change of the files of --command/);
  await folder.write('tool.mjs', NOISY.replace('falls-over', 'changed'));
  await check.prints(/waiting for a change[\s\S]*waiting for a change/);
  check.interrupt();
  const { status } = await check.ended;
  expect(status).toBe(130);
});

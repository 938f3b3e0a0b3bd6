import { readFile, writeFile } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, it, test } from 'vitest';
import { CI_COMMANDS, ciCommandsIn } from '../support/ci-commands.js';
import { eventually } from './support/eventually.js';
import { temporaryFolder } from './support/folder.js';
import { runHere } from './support/in-process.js';
import { type Behaviour, type OwnTool, resultFor, startTool } from './support/own-tool.js';
import { argv, start } from './support/program.js';
import { invokeJsonHere, verdictsIn } from './support/report.js';

/** A tool server in plain Node that writes to its stderr, and exits where the code says so. */
type Code = Readonly<Record<'onInvoke' | 'onClose', string>>;

function serverScript(code: Code): string {
  return `
    const http = require("node:http");
    const die = () => { console.error("it broke\\n  at line 7"); process.exit(3); };
    const s = http.createServer(async (q, r) => {
      let body = ""; for await (const c of q) body += c;
      const endpoint = "http://" + q.headers.host + "/invoke";
      if (q.method === "GET")
        return r.end(JSON.stringify({ name: "dying", endpoint, tools: [{ name: "echo", description: "", inputSchema: {} }] }));
      if (q.url === "/close_thread") { ${code.onClose} }
      const call = JSON.parse(body);
      const send = text => fetch(call.callback_url, { method: "POST", headers: { "content-type": "application/json" },
        body: JSON.stringify({ type: "tool_result", id: call.id, group_id: call.group_id, text }) });
      if (q.url === "/invoke") { ${code.onInvoke} }
      r.end();
    });
    process.stderr.write("listening, ");
    s.listen(0, "127.0.0.1", () => { console.error("ready"); console.log(JSON.stringify({ port: s.address().port })); });`;
}

function server(code: Code): string {
  const script = serverScript(code);
  return `'${process.execPath}' -e '${script.replaceAll("'", `'\\''`)}'`;
}

const ANSWER = 'r.end(); send("done"); return;';
const invoke = (command: string, ...options: string[]) =>
  runHere(argv`invoke --command ${command} echo ${options}`);

test('a server of --command that sends nothing: the hint names the way to what it wrote', async () => {
  const silent = server({ onInvoke: 'r.end(); return;', onClose: '' });
  const { status, stderr } = await invoke(silent, '--ready-timeout', '1m', '--timeout', '2s');
  expect(status).toBe(7);
  expect(stderr).toMatch(/or wait longer with --timeout\. What the server wrote may say why: add -v\.$/m);
});

test('a server of --command that wrote to stderr during the call, and sends nothing: its last output comes before the hint', async () => {
  const failing = server({ onInvoke: 'r.end(); console.error("no disk"); return;', onClose: '' });
  const options = ['--ready-timeout', '1m', '--timeout', '2s'];
  const { status, stdout, stderr } = await invoke(failing, ...options, '-o', 'json');
  expect(status).toBe(7);
  expect(stderr).toMatch(
    /^error: timed out after 2s: .*\n {2}listening, ready\n {2}no disk\nhint: The server's last output may say why \(-v shows all of it\)\. /,
  );
  expect(JSON.parse(stdout).error.faults).toEqual(['listening, ready', 'no disk']);
});

describe.concurrent('a server of --command that exits', () => {
  test.each([
    ['of the invocation', 'die()'],
    ['after it has acknowledged', 'r.end(); setTimeout(die, 50); return;'],
  ])(
    '%s: the call ends at once; the error has the status, the operation and the last output',
    async (_, code) => {
      const { status, stdout, stderr } = await invoke(server({ onInvoke: code, onClose: '' }), '-o', 'json');
      expect(status).toBe(4);
      const { error, llm } = JSON.parse(stdout);
      expect(error).toMatchObject({
        code: 'unreachable',
        message: 'the server exited with status 3 during `echo`',
      });
      expect(error.faults).toEqual(['listening, ready', 'it broke', '  at line 7']);
      expect(llm.text).toBe('Error: the server exited with status 3 during `echo`');
      expect(stderr).toMatch(
        /^error: the server exited with status 3 during `echo`\n {2}listening, ready\n {2}it broke\n/,
      );
    },
  );

  test('--repeat makes no further calls, and shows its last output once', async () => {
    const code = 'r.end(); setTimeout(die, 50); return;';
    const ended = await invoke(server({ onInvoke: code, onClose: '' }), '--repeat', '5');
    expect(ended.status).toBe(4);
    expect(ended.stdout).toMatch(
      /^ +1 ✗ error .* the server exited with status 3 during `echo`\n\n1 call: 1 error\n/,
    );
    expect(ended.stderr.replace(/^warning: the acknowledgement took .*\n/m, '')).toBe(
      [
        'warning: the server exited with status 3 during `echo`',
        ...['  listening, ready', '  it broke', '    at line 7'],
        'error: the server exited: 4 of 5 calls were not made\n',
      ].join('\n'),
    );
  });

  test('after a notice of ours: a warning names the notice', async () => {
    const ended = await invoke(server({ onInvoke: ANSWER, onClose: 'die()' }));
    expect([ended.status, ended.stdout]).toEqual([0, 'done']);
    expect(ended.stderr).toContain(
      'warning: the server exited with status 3 after POST /close_thread; use --no-close to leave this notice out\n  listening, ready\n  it broke\n    at line 7\n',
    );
  });

  test('after the call: no warning; -v shows its output in whole lines', async () => {
    const sound = server({ onInvoke: ANSWER, onClose: '' });
    expect((await invoke(sound)).stderr).toBe('');
    expect((await invoke(sound, '-v')).stderr).toMatch(/^server: listening, ready$/m);
  });
});

test('--watch restarts the server when its file changes, and repeats the call', async () => {
  await using folder = await temporaryFolder();
  const file = folder.file('server.mjs');
  const serving = (text: string) =>
    serverScript({ onInvoke: `r.end(); send("${text}"); return;`, onClose: '' });
  await writeFile(file, serving('one').replace('require("node:http")', '(await import("node:http"))'));
  const saved = folder.file('run.ndjson');
  const command = `'${process.execPath}' '${file}'`;
  const running = start(argv`invoke --command ${command} echo --watch --save ${saved}`);
  let [stdout, stderr] = ['', ''];
  running.child.stdout?.on('data', chunk => (stdout += chunk));
  running.child.stderr?.on('data', chunk => (stderr += chunk));
  await eventually('the first result', () => stdout === 'one');
  await eventually('it waits', () => stderr.includes('waiting for a change'));
  await writeFile(folder.file('out.txt'), 'what a server writes beside itself is not a change');
  await writeFile(file, serving('two').replace('require("node:http")', '(await import("node:http"))'));
  await eventually('the second result', () => stdout === 'onetwo');
  await eventually('it waits again', () => stderr.split('waiting for a change').length === 3);
  running.child.kill('SIGINT');
  expect((await running.ended).status).toBe(130);
  expect(await readFile(saved, 'utf8')).toContain('two'); // the transcript of the latest call
});

const BODY = '{"text":"the result, where no one looks for it, and where it is of no use to anybody"}';
const UNREAD = {
  id: 'TOOL-ASYNC',
  message:
    'the acknowledgement has an outcome in its body, which is ignored; POST the result to callback_url',
};

/** What becomes of a call of such a tool, of what was saved of it, and of the tool itself. */
async function judged(behaviour: Behaviour) {
  await using tool = await startTool({ greet: behaviour });
  await using folder = await temporaryFolder();
  const saved = folder.file('ack.ndjson');
  const { report } = await invokeJsonHere(argv`${tool.url} greet --timeout 3s --save ${saved}`);
  const rule = ['--only', 'TOOL-ASYNC', '--reporter', 'json'];
  const later = await runHere(argv`check ${saved} ${rule}`);
  const calling = ['--operation', 'greet', '--probe-timeout', '400ms'];
  const live = await runHere(argv`check ${tool.url} ${rule} ${calling}`);
  return { report, verdicts: [verdictsIn(later.stdout), verdictsIn(live.stdout)] };
}

describe.concurrent('TOOL-ASYNC: a result in the acknowledgement, chunked or with a length', () => {
  describe.each([
    ['in chunks', {}],
    ['announced', { 'content-length': String(BODY.length) }],
  ])('%s', (_, headers) => {
    it('only there: the call explains why it has no result, and both checks fail', async () => {
      const { report, verdicts } = await judged({ headers, body: BODY });
      expect(report.error).toMatchObject({
        code: 'timeout',
        message: expect.stringContaining(`acknowledged with 200, and a body of ${BODY.length} bytes`),
        hint: expect.stringMatching(
          /^The body of the 200 \(\d+ bytes\) is ignored; the tool must POST the result to callback_url\. Check that /,
        ),
      });
      expect(report.warnings).toContainEqual(UNREAD);
      expect(verdicts).toEqual([{ fail: ['TOOL-ASYNC'] }, { fail: ['TOOL-ASYNC'] }]);
    });

    it('and in a callback: a warning, also in both checks', async () => {
      const { report, verdicts } = await judged({
        headers,
        body: BODY,
        callbacks: invocation => [resultFor(invocation, 'done')],
      });
      expect(report.error).toBeUndefined();
      expect(report.warnings).toContainEqual(UNREAD);
      expect(verdicts).toEqual([{ warn: ['TOOL-ASYNC'] }, { warn: ['TOOL-ASYNC'] }]);
    });
  });
});

const COMMANDS = CI_COMMANDS.join('\n');

let tool: OwnTool;

beforeAll(async () => {
  tool = await startTool({
    text: { callbacks: invocation => [resultFor(invocation, COMMANDS)] },
    shown: {
      callbacks: ({ id, group_id }) => [
        JSON.stringify({
          type: 'tool_result',
          group_id,
          id,
          text: 'x',
          display_as: [{ type: 'text', content: COMMANDS }],
        }),
      ],
    },
    invalid: { callbacks: () => [COMMANDS, JSON.stringify({ type: COMMANDS })] },
    refused: { status: 400, body: COMMANDS },
  });
});

afterAll(() => tool[Symbol.asyncDispose]());

describe.concurrent('the log of a CI job contains no workflow command of a tool', () => {
  const outputs = ['plain', 'json', 'ndjson'] as const;
  const cases = ['text', 'shown', 'invalid', 'refused'].flatMap(name =>
    outputs.map(output => [name, output] as const),
  );

  test.each(cases)('%s with -o %s -v', async (name, output) => {
    const args = ['invoke', tool.url, name, '--timeout', '3s', '-o', output, '-v'];
    const { stdout, stderr } = await runHere(args);
    expect(ciCommandsIn(`${stdout}\n${stderr}`)).toEqual([]);
    expect(`${stdout}${stderr}`).toMatch(/<U\+0023>|\\u0023/);
  });

  test('-o text is exactly what the LLM gets', async () => {
    expect((await runHere(argv`invoke ${tool.url} text -o text -q`)).stdout).toBe(COMMANDS);
  });
});

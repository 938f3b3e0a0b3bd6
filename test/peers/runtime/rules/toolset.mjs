const NAME = /^[A-Za-z0-9_-]{1,128}$/;
const FLAGS = ['readOnly', 'destructive', 'idempotent', 'longRunning'];

export function* toolsetFaults({ status, headers }, toolset) {
  const fault = why => ({ id: 'TOOL-DISCOVER', why });
  if (status !== 200) yield fault(`discovery was answered ${status}`);
  if (!/^application\/json\b/i.test(headers['content-type'] ?? ''))
    yield fault(`the content type is ${headers['content-type']}`);
  if (!isRecord(toolset)) return yield fault('the toolset is not an object');
  const { name, endpoint, tools, needsMigration = false } = toolset;
  if (typeof name !== 'string' || name.length < 1 || name.length > 128) yield fault(`its name is ${name}`);
  if (!/^https?:\/\//.test(endpoint) || !URL.canParse(endpoint)) yield fault(`its endpoint is ${endpoint}`);
  if (typeof needsMigration !== 'boolean') yield fault(`needsMigration is ${needsMigration}`);
  if (!Array.isArray(tools) || tools.length === 0) return yield fault('it has no tools');
  for (const tool of tools) yield* toolFaults(tool);
  const names = tools.map(tool => tool?.name);
  if (new Set(names).size < names.length) yield { id: 'TOOL-NAMES', why: `a name is there twice: ${names}` };
}

function* toolFaults(tool) {
  if (!NAME.test(tool?.name ?? '')) yield { id: 'TOOL-NAMES', why: `a tool has the name ${tool?.name}` };
  const wrong = why => ({ id: 'TOOL-DISCOVER', why: `tool ${tool?.name}: ${why}` });
  if (typeof tool?.description !== 'string') yield wrong('it has no description');
  if (!isRecord(tool?.inputSchema)) yield wrong('inputSchema is not an object');
  for (const flag of FLAGS) {
    const value = tool?.annotations?.[flag];
    if (value !== undefined && typeof value !== 'boolean') yield wrong(`${flag} is ${value}`);
  }
}

function isRecord(value) {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

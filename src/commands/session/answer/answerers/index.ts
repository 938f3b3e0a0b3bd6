import type { Setting } from './setting.js';
import type { ToolAnswerer } from './tool-answerer.js';

/** Who answers, as the plan has it; each is loaded only where it is meant. @throws ProtocolCliError where it cannot be started. */
export async function openAnswerer(setting: Setting): Promise<ToolAnswerer> {
  const { source } = setting.plan;
  if (source.kind === 'tool') return (await import('./rap-tool.js')).openRapTool(source.url, setting);
  return (await import('./local-tool.js')).openLocalTool(source, setting);
}

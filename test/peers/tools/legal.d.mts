import type { RequirementId } from '../../../src/protocol/requirements.js';

/** What right tools do, by name, with the rules whose probes it could disturb. */
export const LEGAL: Readonly<Record<string, { readonly disturbs: readonly RequirementId[] }>>;

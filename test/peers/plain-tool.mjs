import { serve } from './kit.mjs';
import { plainTool } from './plain/tool.mjs';

await serve(plainTool(process.env));

import { serve } from './kit.mjs';
import { oddTool } from './odd/tool.mjs';

await serve(oddTool(process.env));

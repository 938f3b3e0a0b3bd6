import { serve } from './kit/http.mjs';
import { oddTool } from './odd/tool.mjs';

await serve(oddTool(process.env));

import { Box } from 'ink';
import type { Size } from '../tty.js';
import type { FormState } from '../workbench/form/form.js';
import { formLines } from '../workbench/form/lines.js';
import { formWidths, REQUEST_GAP, type RequestTarget, requestLines } from '../workbench/form/request.js';
import { Lines } from './Line.js';

interface FormProps {
  readonly form: FormState;
  readonly size: Size;
  readonly request?: RequestTarget;
}

/** The fields of a form; if there is room, the request that it would send is beside them. */
export function Form({ form, size: { columns, rows }, request }: FormProps) {
  const [width, requestWidth] = formWidths(form, columns);
  return (
    <Box height={rows} columnGap={REQUEST_GAP}>
      <Box width={width} flexShrink={0} flexDirection="column">
        <Lines lines={formLines(form, { columns: width, rows })} width={width} />
      </Box>
      {requestWidth > 0 && (
        <Box width={requestWidth} flexShrink={0} flexDirection="column">
          <Lines lines={requestLines(form, { columns: requestWidth, rows }, request)} width={requestWidth} />
        </Box>
      )}
    </Box>
  );
}

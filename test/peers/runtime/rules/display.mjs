/** What the human sees ends in a short line; diffs are diffs; images are described. */
export function* displayFaults({ callbacks }) {
  for (const [index, { body }] of callbacks.entries()) {
    for (const [id, why] of [
      ...segmentFaults(body?.display_as),
      ...itemFaults(body?.content),
      ...viewFaults(body),
    ])
      yield { id, why: `callback ${index + 1}: ${why}` };
  }
}

function* segmentFaults(segments) {
  if (!Array.isArray(segments) || segments.length === 0) return;
  const last = segments.at(-1);
  if (last?.type !== 'text' || typeof last.content !== 'string' || last.content.includes('\n'))
    yield ['TOOL-FALLBACK', 'display_as does not end in a text of one line'];
  for (const [place, segment] of segments.entries()) {
    if (segment?.type === 'diff' && !isUnifiedDiff(segment.content?.patch))
      yield ['TOOL-DIFF', `segment ${place} has no unified diff`];
    if (segment?.type === 'image' && !segments.slice(place).some(later => later?.type === 'text'))
      yield ['TOOL-IMAGE', 'no text follows the image'];
  }
}

function* itemFaults(items) {
  if (!Array.isArray(items) || !items.some(item => item?.type === 'image')) return;
  if (items[0]?.type !== 'text')
    yield ['TOOL-IMAGE', 'content does not begin with a text that describes the image'];
}

/** Content without anything in it clears a view. */
function* viewFaults(body) {
  if (body?.type !== 'view_update' || body.view_type !== 'diff') return;
  const isCleared = Object.keys(body.content ?? {}).length === 0;
  if (!isCleared && !isUnifiedDiff(body.content?.patch)) yield ['TOOL-DIFF', 'the view has no unified diff'];
}

function isUnifiedDiff(patch) {
  return (
    typeof patch === 'string' && /^--- .*\n\+\+\+ .*\n(.*\n)*?@@ -\d+(,\d+)? \+\d+(,\d+)? @@/m.test(patch)
  );
}

import { CopyButton } from './copy-button.component.js';
import { indentJson } from './json-indent.util.js';
import { showHidden } from './plain-text.util.js';

/** Characters that are shown at most: a page with more would be slow. All of the text is copied. */
const MAX_SHOWN = 200_000;

/** JSON, or other text, as text. `name` is what it is: "Body". */
export function JsonView({ text, name }: { text: string; name: string }) {
  const shown = showHidden(indentJson(text, MAX_SHOWN), '\n');
  return (
    <figure class="json-view">
      <figcaption>
        <span>{name}</span>
        <CopyButton text={text} what={name} />
      </figcaption>
      <pre tabIndex={0} aria-label={name}>
        <code>{shown}</code>
      </pre>
      {text.length > MAX_SHOWN && (
        <p class="hint">The first {MAX_SHOWN.toLocaleString()} characters are shown. Copy takes all.</p>
      )}
    </figure>
  );
}

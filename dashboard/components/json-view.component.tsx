import { CopyButton } from './copy-button.component.js';
import { indentJson } from './json-indent.util.js';
import { showHidden } from './plain-text.util.js';

/** Maximum number of characters shown: more would make the page slow. Copying takes the whole text. */
const MAX_SHOWN = 200_000;

/** Shows JSON or other text. `name` says what it is, such as "Body". */
export function JsonView({ text, name }: { text: string; name: string }) {
  const shown = showHidden(indentJson(text, MAX_SHOWN), '\n\t');
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
        <p class="hint">Only the first {MAX_SHOWN.toLocaleString()} characters are shown. Copy includes all of them.</p>
      )}
    </figure>
  );
}

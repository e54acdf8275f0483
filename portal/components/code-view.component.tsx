import { indentJson } from '../../dashboard/components/json-indent.util.js';
import { showHidden } from '../../dashboard/components/plain-text.util.js';
import { words } from '../words/words.js';
import { CopyButton } from './copy-button.component.js';

/** Maximum number of characters shown: more would make the page slow. Copying takes the whole text. */
const MAX_SHOWN = 200_000;

/** Shows JSON, code or other text. `name` says what it is, such as "Body". */
export function CodeView({ text, name }: { text: string; name: string }) {
  return (
    <figure class="json-view">
      <figcaption>
        <span>{showHidden(name)}</span>
        <CopyButton text={text} what={name} />
      </figcaption>
      <pre tabIndex={0} aria-label={name}>
        <code>{showHidden(indentJson(text, MAX_SHOWN), '\n\t')}</code>
      </pre>
      {text.length > MAX_SHOWN && <p class="hint">{words.cut(MAX_SHOWN)}</p>}
    </figure>
  );
}

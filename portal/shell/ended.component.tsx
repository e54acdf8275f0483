import { useEffect } from 'preact/hooks';

import { words } from '../words/words.js';
import { link } from './link.state.js';
import { BackLink, Brand } from './brand.component.js';

/** Says that the link has ended, or that there is none, and leads back to the application. */
export function Ended() {
  const { hasEnded } = link.value;
  const title = hasEnded ? words.shell.ended : words.shell.missing;
  useEffect(() => {
    document.title = title;
  }, [title]);
  return (
    <main class="alone">
      <Brand />
      <h1>{title}</h1>
      <p>{hasEnded ? words.shell.endedHint : words.shell.missingHint}</p>
      <BackLink look="button primary" />
    </main>
  );
}

import { useEffect, useState } from 'preact/hooks';

import { goTo, hrefOf, route } from './hash.router.js';

/** Finds whatever an id or a value names, on a page of its own. */
export function SearchBox() {
  const { page, query } = route.value;
  const searched = page === 'search' ? (query.get('text') ?? '') : '';
  const [text, setText] = useState(searched);
  useEffect(() => setText(searched), [searched]);
  return (
    <form
      class="search-box"
      role="search"
      aria-label="Everything"
      onSubmit={(event) => {
        event.preventDefault();
        if (text.trim() !== '') goTo(hrefOf('search', { text: text.trim() }));
      }}
    >
      <input
        type="search"
        aria-label="Find an id, a value or a name"
        placeholder="Find an id, a value or a name"
        value={text}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => setText(currentTarget.value)}
      />
    </form>
  );
}

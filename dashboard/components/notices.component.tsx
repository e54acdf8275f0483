import { closeNotice, notices, openDialogs } from './notice.state.js';
import { showHidden } from './plain-text.util.js';

/** The notices of `notify`; shown in the dialog if one is open, as nothing outside of it can be read out or clicked. */
export function Notices({ inDialog = false }: { inDialog?: boolean }) {
  const isShown = inDialog || openDialogs.value === 0;
  return (
    <div class="notices" role="status" aria-live="polite">
      {isShown &&
        notices.value.map(({ id, text, look }) => (
          <p key={id} class={`notice ${look}`}>
            <span>{showHidden(text)}</span>
            <button type="button" class="button quiet" aria-label="Close this notice" onClick={() => closeNotice(id)}>
              ✕
            </button>
          </p>
        ))}
    </div>
  );
}

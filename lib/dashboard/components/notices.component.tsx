import { closeNotice, notices } from './notice.state.js';
import { showHidden } from './plain-text.util.js';

/** The notices of `notify`. */
export function Notices() {
  return (
    <div class="notices" role="status" aria-live="polite">
      {notices.value.map(({ id, text, look }) => (
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

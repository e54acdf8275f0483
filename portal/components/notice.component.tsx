import { notice } from './notice.state.js';

/** The notice of `notify`. In the flow of the page: what is at the edge of a frame may be out of sight. */
export function Notice() {
  return (
    <div role="status" class="notice-frame">
      {notice.value && <p class="notice">{notice.value}</p>}
    </div>
  );
}

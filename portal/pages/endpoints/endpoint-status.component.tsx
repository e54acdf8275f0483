import { path } from '../../../dashboard/api/api.client.js';
import { useChange } from '../../../dashboard/api/change.hook.js';
import type { Endpoint } from '../../api/portal.answers.js';
import { request } from '../../api/portal.client.js';
import { EndpointBadge } from '../../components/badge.component.js';
import { Button } from '../../components/button.component.js';
import { notify } from '../../components/notice.state.js';
import { Problem } from '../../components/problem.component.js';
import { toMinute } from '../../components/time.component.js';
import { words } from '../../words/words.js';

const ACTIONS = {
  pause: { text: words.endpoint.pause, done: words.endpoint.pausedDone },
  resume: { text: words.endpoint.resume, done: words.endpoint.resumedDone },
  enable: { text: words.endpoint.enable, done: words.endpoint.enabledDone },
};

/** What changes each state. */
const ACTION_OF = { active: 'pause', failing: 'pause', paused: 'resume', disabled: 'enable' } as const;

export interface EndpointStatusProps {
  endpoint: Endpoint;
  onChanged: () => void;
}

/** The state of an endpoint, why, and what changes it. */
export function EndpointStatus({ endpoint, onChanged }: EndpointStatusProps) {
  const { id, state } = endpoint;
  const action = ACTION_OF[state];
  const { text, done } = ACTIONS[action];
  const change = useChange(async () => {
    await request('POST', path`endpoints/${id}/${action}`);
    notify(done);
    onChanged();
  });
  return (
    <section class={`panel status ${state}`} aria-label={words.endpoint.status}>
      <div class="spread">
        <div class="status-text">
          <EndpointBadge state={state} />
          <p>{sentenceOf(endpoint)}</p>
        </div>
        <Button changes look={state === 'disabled' ? 'primary' : 'plain'} isBusy={change.isBusy} onClick={change.run}>
          {text}
        </Button>
      </div>
      <Problem error={change.error} />
    </section>
  );
}

function sentenceOf({ state, failingSince, disabled }: Endpoint): string {
  switch (state) {
    case 'active':
      return words.endpoint.active;
    case 'failing':
      return failingSince === undefined ? words.endpoint.failingNow : words.endpoint.failing(toMinute(failingSince));
    case 'paused':
      return words.endpoint.paused;
    case 'disabled': {
      const why = disabled && words.endpoint.disabledFor[disabled.reason];
      const since = disabled ? words.endpoint.disabledSince(toMinute(disabled.since)) : words.endpoint.disabled;
      return [why, since, words.endpoint.disabledHint].filter(Boolean).join(' ');
    }
  }
}

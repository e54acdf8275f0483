// One application that records events and forwards them, or the floor. Arguments: contender, URL of the receiver.
import 'reflect-metadata';

import { Poster, toWebhook } from '../support/poster.js';
import { trackMessage } from '../support/messages.js';
import { createRelayRecording, measureRecording, type Recording } from './recording.js';

/** In one application, in process or through its own HTTP endpoint; and the least that can be done. */
export type CostContender = 'floor' | 'memory' | 'sqlite' | 'memory, HTTP' | 'sqlite, HTTP';

const [contender, receiver] = process.argv.slice(2) as [CostContender, string];

function floor(): Recording {
  const poster = new Poster(receiver);
  const record = (index: number) => poster.post([toWebhook(trackMessage(`${process.pid}-${index}`))]);
  return { record, delivered: poster.delivered };
}

const recording =
  contender === 'floor'
    ? floor()
    : await createRelayRecording(contender.startsWith('memory') ? 'memory' : 'sqlite', receiver, {
        isOverHttp: contender.endsWith('HTTP'),
      });
let recorded = 0;
process.on('message', ({ count }: { count: number }) => {
  void measureRecording(recording, recorded, count).then((cpu) => process.send!({ cpu }));
  recorded += count;
});
process.once('disconnect', () => process.exit());
process.send!('ready');

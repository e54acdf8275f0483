import { useChange } from '../../../dashboard/api/change.hook.js';
import { get } from '../../api/portal.client.js';
import { Button } from '../../components/button.component.js';
import { Problem } from '../../components/problem.component.js';
import { words } from '../../words/words.js';

/** The catalogue as documents for tools. */
export function Documents() {
  return (
    <section class="panel">
      <h2>{words.events.documents}</h2>
      <p>{words.events.documentsHint}</p>
      <div class="actions">
        <DownloadButton name="openapi">{words.events.openApi}</DownloadButton>
        <DownloadButton name="asyncapi">{words.events.asyncApi}</DownloadButton>
      </div>
    </section>
  );
}

function DownloadButton({ name, children }: { name: string; children: string }) {
  const download = useChange(async () => {
    save(`${name}.json`, JSON.stringify(await get(`events/${name}`), undefined, 2));
  });
  return (
    <>
      <Button isBusy={download.isBusy} onClick={download.run}>
        {children}
      </Button>
      <Problem error={download.error} />
    </>
  );
}

/** Saves a text as a file. A link to the API would not have the token. */
function save(name: string, text: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'application/json' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = name;
  link.click();
  URL.revokeObjectURL(url);
}

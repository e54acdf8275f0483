import { Button } from '../../components/button.component.js';
import { FieldGroup } from '../../components/field-group.component.js';
import { TextList } from '../../components/text-list.component.js';

const MAX_URLS = 5;

export interface UrlsFieldProps {
  /** New URLs; undefined keeps the current ones. */
  urls: string[] | undefined;
  present: string[] | undefined;
  error: string | undefined;
  onUrls: (urls: string[] | undefined) => void;
}

/** URLs of a destination. The API hides user info, query and tokens of the current ones, so all must be entered again. */
export function UrlsField({ urls, present = [], error, onUrls }: UrlsFieldProps) {
  if (!urls) {
    return (
      <FieldGroup label="URLs" hint="User info, query and tokens in the path are not shown." error={error}>
        <TextList values={present} max={Infinity} />
        <Button onClick={() => onUrls([''])}>Replace URLs</Button>
      </FieldGroup>
    );
  }
  const hint =
    present.length > 0
      ? `These replace ${present.join(', ')}. Enter each in full, with its user info, query and tokens, if any.`
      : 'One to five URLs, http or https. A message is delivered once one of them accepts it.';
  return (
    <FieldGroup label="URLs" hint={hint} error={error}>
      {urls.map((url, index) => (
        <div key={index} class="row">
          <input
            aria-label={`URL ${index + 1}`}
            inputMode="url"
            placeholder="https://receiver.example/hook"
            autocomplete="off"
            spellcheck={false}
            value={url}
            onInput={({ currentTarget }) => onUrls(urls.map((one, at) => (at === index ? currentTarget.value : one)))}
          />
          {urls.length > 1 && (
            <Button
              look="quiet"
              label={`Remove URL ${index + 1}`}
              onClick={() => onUrls(urls.filter((_, at) => at !== index))}
            >
              Remove
            </Button>
          )}
        </div>
      ))}
      <div class="actions">
        <Button
          disabledReason={urls.length < MAX_URLS ? undefined : `A destination can have at most ${MAX_URLS} URLs.`}
          onClick={() => onUrls([...urls, ''])}
        >
          Add URL
        </Button>
        {present.length > 0 && (
          <Button look="quiet" onClick={() => onUrls(undefined)}>
            Keep the current URLs
          </Button>
        )}
      </div>
    </FieldGroup>
  );
}

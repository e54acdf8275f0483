import { useState } from 'preact/hooks';

import { BASE } from '../../../dashboard/api/api.client.js';
import { PageHeading } from '../../../dashboard/components/page-heading.component.js';
import { PlainText } from '../../../dashboard/components/plain-text.component.js';
import { Button } from '../../components/button.component.js';
import { CodeView } from '../../components/code-view.component.js';
import { words } from '../../words/words.js';
import go from '../../verify/go.go';
import java from '../../verify/java.java';
import node from '../../verify/node.js';
import php from '../../verify/php.php';
import python from '../../verify/python.py';
import ruby from '../../verify/ruby.rb';

/** How to verify a signature, in each language. */
const CODE: [language: string, text: string][] = [
  ['Node.js', node],
  ['Python', python],
  ['Go', go],
  ['Ruby', ruby],
  ['PHP', php],
  ['Java', java],
];

/** Explains how to verify signatures. */
export default function SignaturesPage() {
  const [chosen, setChosen] = useState(CODE[0]!);
  const [language, text] = chosen;
  return (
    <>
      <PageHeading title={words.signatures.title} />
      <p class="lead">{words.signatures.lead}</p>
      <ol class="steps">
        {words.signatures.steps.map((step) => (
          <li key={step}>{step}</li>
        ))}
      </ol>
      <div class="actions" role="group" aria-label={words.signatures.language}>
        {CODE.map((each) => (
          <Button key={each[0]} isPressed={each === chosen} onClick={() => setChosen(each)}>
            {each[0]}
          </Button>
        ))}
      </div>
      <CodeView name={language} text={text.trimEnd()} />
      <p class="hint">{words.signatures.standard}</p>
      <p class="hint">
        {words.signatures.keys} <PlainText value={new URL('jwks.json', BASE).href} max={1_000} />
      </p>
    </>
  );
}

import type { FormHTMLAttributes, RefObject } from 'preact';

export interface FormProps extends Omit<FormHTMLAttributes, 'onSubmit' | 'ref'> {
  /** The form element, for callers that look for a field in it. */
  formRef?: RefObject<HTMLFormElement | null>;
  onSubmit: () => void;
}

/** A form submitted by the page rather than by the browser. */
export function Form({ formRef, onSubmit, ...attributes }: FormProps) {
  return (
    <form
      class="form"
      {...attributes}
      ref={formRef}
      onSubmit={(event) => {
        event.preventDefault();
        onSubmit();
      }}
    />
  );
}

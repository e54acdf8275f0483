import type { FormHTMLAttributes, RefObject } from 'preact';

export interface FormProps extends Omit<FormHTMLAttributes, 'onSubmit' | 'ref'> {
  /** The element, for those that look for a field in it. */
  formRef?: RefObject<HTMLFormElement | null>;
  onSubmit: () => void;
}

/** A form that the page submits, not the browser. */
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

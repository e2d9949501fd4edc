// A labelled field of the forms for messages, with what is wrong with it.
import type { ComponentChildren } from 'preact';
import { useId, useLayoutEffect, useRef } from 'preact/hooks';
import type { Wrong as Wrongs } from '../model/message';

interface Properties {
  label: string;
  value: string;
  set(text: string): void;
  wrong?: string | undefined;
  placeholder?: string;
  numeric?: boolean;
  /** Lines; a field of one line if not said. */
  lines?: number;
}

export function MessageField({ label, value, set, wrong, placeholder = '', numeric, lines }: Properties) {
  const id = useId();
  const common = {
    id, value, placeholder, spellcheck: false, autocomplete: 'off',
    'aria-invalid': wrong ? true : undefined,
    'aria-describedby': wrong ? `${id}-wrong` : undefined,
  } as const;
  return (
    <div class={wrong ? 'message-field wrong' : 'message-field'}>
      <label for={id}>{label}</label>
      {lines ? (
        <textarea {...common} rows={lines} onInput={(event) => set(event.currentTarget.value)} />
      ) : (
        <input {...common} type="text" {...(numeric && { inputMode: 'numeric' as const })} onInput={(event) => set(event.currentTarget.value)} />
      )}
      <Wrong id={`${id}-wrong`} text={wrong} />
    </div>
  );
}

export function Wrong({ id, text }: { id?: string; text: ComponentChildren }) {
  return text ? <p id={id} class="bad-text">{text}</p> : null;
}

/** The form that this is put on leads to its first field that is wrong, with the rendering that marks it. */
export function useLeadToWrong(wrong: Wrongs) {
  const form = useRef<HTMLFormElement>(null);
  useLayoutEffect(() => form.current?.querySelector<HTMLElement>('[aria-invalid=true]')?.focus(), [wrong]);
  return form;
}

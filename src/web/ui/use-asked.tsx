import { useSignal } from '@preact/signals';

/** Buttons that ask about an act, and the act of which a dialog asks now; `onDone` is called when the dialog closes. */
export function useAsked<Act>(onDone: () => void = () => undefined) {
  const asked = useSignal<Act | undefined>(undefined);
  return {
    asked: asked.value,
    done: () => {
      asked.value = undefined;
      onDone();
    },
    button: (act: Act, text: string, look?: 'main' | 'link') => (
      <button
        type="button"
        {...(look === undefined ? {} : { class: look })}
        onClick={() => {
          asked.value = act;
        }}
      >
        {text}
      </button>
    ),
  };
}

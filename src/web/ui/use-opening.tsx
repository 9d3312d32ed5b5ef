import { useSignal } from '@preact/signals';

/** A part that a button opens and closes. */
export function useOpening({
  show,
  hide,
  isLink = false,
}: {
  readonly show: string;
  readonly hide: string;
  readonly isLink?: boolean;
}) {
  const isOpen = useSignal(false);
  const button = (
    <button
      type="button"
      {...(isLink ? { class: 'link' } : {})}
      aria-expanded={isOpen.value}
      onClick={() => {
        isOpen.value = !isOpen.value;
      }}
    >
      {isOpen.value ? hide : show}
    </button>
  );
  return { isOpen: isOpen.value, button };
}

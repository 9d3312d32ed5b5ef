import { useEffect, useRef } from 'preact/hooks';

/** A dialog above the page. Closing it gives the focus back to what had it before, or to the page if that is gone. */
// SPEC A76
export function useModal() {
  const element = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    return () => {
      dialog?.close();
      if (document.activeElement === document.body) document.querySelector('main')?.focus();
    };
  }, []);
  return element;
}

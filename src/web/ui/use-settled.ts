import { useSignal } from '@preact/signals';
import { useEffect } from 'preact/hooks';

/** The text as it was when it last stayed the same for this time. */
export function useSettled(text: string, ms: number): string {
  const settled = useSignal(text);
  useEffect(() => {
    const timer = setTimeout(() => {
      settled.value = text;
    }, ms);
    return () => clearTimeout(timer);
  }, [text, ms, settled]);
  return settled.value;
}

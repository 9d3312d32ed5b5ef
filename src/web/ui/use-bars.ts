import { useSignal } from '@preact/signals';

const WAYS: Readonly<Record<string, 'previousElementSibling' | 'nextElementSibling'>> = {
  ArrowLeft: 'previousElementSibling',
  ArrowRight: 'nextElementSibling',
};

/** Bars that keys reach: the Tab key stops once at a chart, and arrows move between its bars. */
// SPEC A76
export function useBars(count: number) {
  const at = useSignal(count - 1);
  return (index: number) => ({
    // The elements of a picture know the name in lower case alone.
    tabindex: index === Math.min(at.value, count - 1) ? 0 : -1,
    onFocus: () => {
      at.value = index;
    },
    onKeyDown: ({ key, currentTarget }: { readonly key: string; readonly currentTarget: SVGElement }) => {
      const way = WAYS[key];
      if (way !== undefined) (currentTarget[way] as SVGElement | null)?.focus();
    },
  });
}

import { useSignal } from '@preact/signals';
import { nextBar } from '../model/bars.ts';

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
    onKeyDown: (event: KeyboardEvent) => {
      const to = nextBar(event.key, index, count);
      const bars = (event.currentTarget as SVGElement).parentElement?.querySelectorAll<SVGElement>('[tabindex]');
      if (to === undefined) return;
      event.preventDefault();
      bars?.[to]?.focus();
    },
  });
}

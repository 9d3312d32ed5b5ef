import { useSignal } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { useLayoutEffect, useRef } from 'preact/hooks';

interface Props<T> {
  readonly label: string;
  readonly items: readonly T[];
  readonly rowHeight: number;
  readonly keyOf: (item: T) => string | number;
  readonly children: (item: T, index: number) => ComponentChildren;
}

const BEYOND = 10;

/** A long list that scrolls with the page and holds only the rows in view. */
export function VirtualList<T>({ label, items, rowHeight, keyOf, children }: Props<T>) {
  const list = useRef<HTMLOListElement>(null);
  const range = useSignal({ first: 0, last: 60 });
  useLayoutEffect(() => {
    const measure = () => {
      const top = list.current?.getBoundingClientRect().top ?? 0;
      const first = Math.max(0, Math.floor(-top / rowHeight) - BEYOND);
      const last = first + Math.ceil(innerHeight / rowHeight) + 2 * BEYOND;
      if (first !== range.value.first || last !== range.value.last) range.value = { first, last };
    };
    measure();
    addEventListener('scroll', measure, { passive: true });
    addEventListener('resize', measure);
    return () => {
      removeEventListener('scroll', measure);
      removeEventListener('resize', measure);
    };
  }, [rowHeight, range]);
  const { first, last } = range.value;
  return (
    <ol ref={list} class="rows" aria-label={label} style={{ height: `${items.length * rowHeight}px` }}>
      {items.slice(first, last).map((item, offset) => (
        <li
          key={keyOf(item)}
          class="row"
          aria-setsize={items.length}
          aria-posinset={first + offset + 1}
          style={{ transform: `translateY(${(first + offset) * rowHeight}px)`, height: `${rowHeight}px` }}
        >
          {children(item, first + offset)}
        </li>
      ))}
    </ol>
  );
}

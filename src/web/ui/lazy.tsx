import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { Loading } from './page-states.tsx';

/** A page whose code is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly Page: ComponentType<Props> } | undefined>(undefined);
  let isAsked = false;
  return function Lazy(props: Props) {
    if (!isAsked) {
      isAsked = true;
      load().then(
        (Page) => {
          loaded.value = { Page };
        },
        // A new version of the server has other files.
        () => location.reload(),
      );
    }
    const { value } = loaded;
    return value === undefined ? <Loading lines={6} /> : <value.Page {...props} />;
  };
}

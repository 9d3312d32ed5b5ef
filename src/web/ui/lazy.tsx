import { signal } from '@preact/signals';
import type { ComponentType } from 'preact';
import { useEffect } from 'preact/hooks';
import { Empty, Loading } from './page-states.tsx';

/** A page that is loaded when it is first shown. */
export function lazy<Props extends object>(load: () => Promise<ComponentType<Props>>): ComponentType<Props> {
  const loaded = signal<{ readonly Page?: ComponentType<Props>; readonly isMissing?: true }>({});
  return function LazyPage(props: Props) {
    const { Page, isMissing } = loaded.value;
    useEffect(() => {
      load().then(
        (found) => {
          loaded.value = { Page: found };
        },
        () => {
          loaded.value = { isMissing: true };
        },
      );
    }, []);
    if (Page !== undefined) return <Page {...props} />;
    if (isMissing !== true) return <Loading lines={6} />;
    return (
      <Empty title="This page could not be loaded.">
        <p>The server was updated since you opened the dashboard, or cannot be reached.</p>
        <button type="button" onClick={() => location.reload()}>
          Load it again
        </button>
      </Empty>
    );
  };
}

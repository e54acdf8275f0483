import type { ComponentType } from 'preact';
import { useEffect, useState } from 'preact/hooks';

export interface LazyLooks {
  /** Shown while the file is loading. */
  Loading: ComponentType;
  /** Shown if it could not be loaded. */
  Failed: ComponentType;
}

/** Creates a component from the default export of a file, which is loaded when the component is first rendered. */
export function lazyComponent<P extends object>(
  load: () => Promise<{ default: ComponentType<P> }>,
  { Loading, Failed }: LazyLooks,
): ComponentType<P> {
  let loaded: ComponentType<P> | undefined;
  return function Lazy(props: P) {
    const [state, setState] = useState<{ Component?: ComponentType<P> | undefined; failed?: boolean }>({
      Component: loaded,
    });
    useEffect(() => {
      if (state.Component) return; // another instance may have loaded the file since this one was rendered
      load().then(
        (file) => {
          loaded = file.default;
          setState({ Component: loaded });
        },
        () => setState({ failed: true }),
      );
    }, []);
    if (state.failed) return <Failed />;
    return state.Component ? <state.Component {...props} /> : <Loading />;
  };
}

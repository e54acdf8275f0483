import { Component, type ComponentChildren } from 'preact';

export interface ErrorBoundaryProps {
  children: ComponentChildren;
  /** Shown in place of children that cannot be rendered. */
  fallback: (error: unknown, onRetry: () => void) => ComponentChildren;
}

/** Keeps the error of its children from the rest of the page. */
export class ErrorBoundary extends Component<ErrorBoundaryProps, { error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error });
  }

  override render({ children, fallback }: ErrorBoundaryProps) {
    const { error } = this.state;
    return error === undefined ? children : fallback(error, () => this.setState({ error: undefined }));
  }
}

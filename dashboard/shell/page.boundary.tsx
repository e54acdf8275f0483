import { Component, type ComponentChildren } from 'preact';

import { PageHeading } from '../components/page-heading.component.js';
import { Problem } from '../components/problem.component.js';

/** Shows the error of a page that cannot be rendered; the navigation stays. */
export class PageBoundary extends Component<{ children: ComponentChildren }, { error?: unknown }> {
  override componentDidCatch(error: unknown): void {
    console.error(error);
    this.setState({ error });
  }

  override render() {
    if (this.state.error === undefined) return this.props.children;
    return (
      <>
        <PageHeading title="This page failed" />
        <Problem error={this.state.error} onRetry={() => this.setState({ error: undefined })} />
      </>
    );
  }
}
